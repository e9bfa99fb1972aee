"""Paper A: a virtual sensor on a simulated robot."""
