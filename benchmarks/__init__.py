"""Speed, each figure measured next to a peer in the same run. CPU time, best of several rounds: machines are noisy."""
