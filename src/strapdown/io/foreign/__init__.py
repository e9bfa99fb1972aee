"""Tables of other programs: which column is which, in which unit and along which axes."""
