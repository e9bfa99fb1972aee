"""Speed, each figure measured beside a peer in the same run. CPU time, best of several rounds: machines are noisy."""
