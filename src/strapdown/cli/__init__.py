"""The commands. Modules import their needs inside the commands, so that --help stays quick."""
