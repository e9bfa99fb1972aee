"""Numbers and arrays in, arrays out: numba only. A kernel never takes strings, never raises, never reads a clock."""
