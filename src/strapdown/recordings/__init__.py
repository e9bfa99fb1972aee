"""What a log is: units, faults, rest, axes, facts, joining. All that takes a log asks here."""
