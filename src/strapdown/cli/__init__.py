"""The commands. Modules import what they need inside the commands, so that --help stays quick."""
