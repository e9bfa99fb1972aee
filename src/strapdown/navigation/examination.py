"""The common examination of a log (recordings/examination/verdict.py), as every navigation filter uses it."""

from numpy.typing import ArrayLike

from strapdown import earth
from strapdown.recordings.examination.verdict import ALL, checked
from strapdown.types import Recording


def examine_for_navigation(
    recording: Recording, gravity: str | float, q_bs: ArrayLike | None = None, *, mag: bool = False
) -> None:
    """Refuses a log whose units, signs or axes are certainly wrong; a doubt is a LogWarning.

    mag: the magnetometer is used. Without gravity there is nothing to compare the accelerometer with.
    """
    g = earth.gravity(gravity)
    if g > 0.0:
        checked(recording, uses=ALL if mag else ALL[:2], gravity=g, q_bs=q_bs)
