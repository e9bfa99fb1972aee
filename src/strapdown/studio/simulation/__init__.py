"""The process of the simulation: its clock, recordings, downloads, and the choices of the chooser."""
