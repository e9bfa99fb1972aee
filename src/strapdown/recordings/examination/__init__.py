"""One examination of a log: units, axes, faults, and the verdict that every entry point uses."""
