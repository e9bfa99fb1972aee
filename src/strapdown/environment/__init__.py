"""The world a vehicle or robot moves in: rigs read from files, run without a browser."""
