"""Simulators as motion sources. MuJoCo is the first; each engine is one file that gives the same readings."""
