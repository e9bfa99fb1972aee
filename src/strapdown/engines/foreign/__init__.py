"""What robots in another engine than MuJoCo share: their description, their motors and forces, steps and readings."""
