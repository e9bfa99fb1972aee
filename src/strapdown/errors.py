"""What can go wrong, told to the user in one sentence: what, where, what to do next."""


class StrapdownError(Exception):
    """Base of all errors meant for the user; the command line prints it in one line and exits with 2."""


class InputError(StrapdownError):
    """A file, field or argument is wrong."""


class RobotError(InputError):
    """A robot file (URDF or MJCF) cannot be simulated as it is."""


class RangeWarning(UserWarning):
    """A virtual sensor's method is used outside its range of validity."""


class LogWarning(RangeWarning):
    """A log looks wrong, but it cannot be certain."""
