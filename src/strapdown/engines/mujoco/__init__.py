"""Robots in MuJoCo: built from URDF or MJCF, stepped or driven."""
