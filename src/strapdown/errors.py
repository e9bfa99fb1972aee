"""Errors and warnings, each with one sentence for the user: what, where, what to do next."""

_LONGEST = 4000  # characters of a sentence: those that list all valid names have up to 1500


class StrapdownError(Exception):
    """Base of all errors meant for the user; the command line prints it in one line and exits with 2."""

    def __str__(self) -> str:
        """The sentence, cut in the middle where a damaged file would make it endless."""
        text = super().__str__()
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"


class InputError(StrapdownError):
    """A file, field or argument is wrong."""


class RobotError(InputError):
    """A robot file (URDF or MJCF) cannot be simulated as it is."""


class RangeWarning(UserWarning):
    """A virtual sensor's method is used outside its range of validity."""


class LogWarning(RangeWarning):
    """A log looks wrong, but this is not certain."""
