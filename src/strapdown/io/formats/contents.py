"""What a file of others holds: recordings of its sensors, and tracks of poses that somebody else has computed."""

from dataclasses import dataclass, field

import numpy as np

from strapdown.arrays import Array, locked, locked_attitude, locked_time
from strapdown.errors import InputError
from strapdown.types import Recording

CHOOSE = "choose one of them"


@dataclass(frozen=True, eq=False)
class Track:
    """Poses over time, as an autopilot, a filter or a camera system gives them; None where it has none.

    t (s): on the clock of the recordings of the same file. p_n (m), v_n (m/s): frame n. q_nb: attitude, w first.
    what: the kind of message or file, and its frames, in words. t0_ns: the clock of the file at t = 0.
    """

    t: Array
    p_n: Array | None = None
    q_nb: Array | None = None
    v_n: Array | None = None
    what: str = ""
    t0_ns: int = 0

    def __post_init__(self) -> None:
        t = locked_time(self.t)
        checked = {"t": t}
        for name in ("p_n", "v_n"):
            if getattr(self, name) is not None:
                checked[name] = locked(getattr(self, name), (len(t), 3), name, t)
        if self.q_nb is not None:
            checked["q_nb"] = locked_attitude(self.q_nb, len(t), "q_nb", t)
        if self.p_n is None and self.q_nb is None:
            raise InputError("a track has neither positions nor attitudes; give one of them")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def holds(self) -> str:
        """Its quantities in words."""
        names = {"p_n": "position", "q_nb": "attitude", "v_n": "velocity"}
        return ", ".join(word for name, word in names.items() if getattr(self, name) is not None)


@dataclass(frozen=True)
class Contents:
    """source: the format, as "PX4 ULog". frames: how its frames became ours, as a sentence. notes: what the user
    should know, as topics that were not read."""

    source: str
    frames: str
    recordings: dict[str, Recording] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def chosen_track(tracks: dict[str, Track], name: str | None, place: str, need: str = "p_n") -> tuple[str, Track]:
    """The track of that name, or the only one that has `need` ("p_n" or "q_nb").

    Of several, one that has nothing but attitudes is taken for attitudes, and one that has both for positions.
    """
    if name is not None:
        known = {key.strip("/"): key for key in tracks}
        if name.strip("/") not in known:
            raise InputError(f"{place} has no track {name}; it has {', '.join(tracks) or 'none'}")
        key = known[name.strip("/")]
        if getattr(tracks[key], need) is None:
            word = "positions" if need == "p_n" else "attitudes"
            raise InputError(f"the track {key} of {place} has no {word}; choose another of {', '.join(tracks)}")
        return key, tracks[key]
    fitting = {key: track for key, track in tracks.items() if getattr(track, need) is not None}
    if not fitting:
        word = "positions" if need == "p_n" else "attitudes"
        raise InputError(f"{place} holds no track with {word}; give a file with poses")
    other = "q_nb" if need == "p_n" else "p_n"
    wanted = need == "p_n"
    best = {key: track for key, track in fitting.items() if (getattr(track, other) is not None) == wanted} or fitting
    if len(best) > 1:
        raise InputError(f"{place} holds the tracks {', '.join(best)}; {CHOOSE}")
    return next(iter(best.items()))


def in_seconds(stamps_ns: np.ndarray, t0_ns: int) -> Array:
    """Seconds since t0_ns. The difference is taken in whole numbers: a double of Unix seconds resolves only 2e-7 s."""
    return (stamps_ns - t0_ns) * 1e-9
