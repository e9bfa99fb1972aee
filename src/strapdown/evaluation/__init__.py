"""How wrong it is: errors against truth, figures, reports."""
