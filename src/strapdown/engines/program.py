"""The program of a robot: a timeline of speeds, positions, torques and forces, known in advance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PPoly

from strapdown.errors import InputError

SNAP_S = 1e-9  # times closer than this are the same instant: k * step and a typed number differ by roundoff


@dataclass(frozen=True)
class Command:
    """From `at_s` on, the named motor or joint follows a value: rad, rad/s or N m (m, m/s or N if it slides).

    `until_s`: a speed or torque ends there (0 from then on). `over_s`: a position is reached smoothly in that time
    (minimum jerk) instead of in a step.
    """

    name: str
    kind: str  # "speed", "position" or "torque"
    value: float
    at_s: float
    until_s: float | None = None
    over_s: float = 0.0


@dataclass(frozen=True)
class Push:
    """An external force (N) and torque (N m), frame n, at the centre of mass of a link."""

    link: str
    force_n: tuple[float, float, float]
    torque_n: tuple[float, float, float]
    at_s: float
    until_s: float


@dataclass(frozen=True)
class Program:
    commands: tuple[Command, ...] = ()
    pushes: tuple[Push, ...] = ()

    def switch_times(self) -> NDArray[np.float64]:
        """All instants at which a command or force begins or ends, in order."""
        ends: list[float] = []
        for command in self.commands:
            ends += [command.at_s, command.at_s + command.over_s]
            if command.until_s is not None:
                ends.append(command.until_s)
        for push in self.pushes:
            ends += [push.at_s, push.until_s]
        return np.unique(np.array(ends, dtype=np.float64))

    def of(self, name: str) -> tuple[Command, ...]:
        return tuple(sorted((c for c in self.commands if c.name == name), key=lambda c: c.at_s))


class Profile:
    """A value over time made of polynomial pieces; at a switch it already has the new piece."""

    def __init__(self, starts_s: Sequence[float], pieces: Sequence[Sequence[float]]) -> None:
        """Piece i runs from starts_s[i] to the next; its coefficients are in falling powers of time since its start."""
        degree = max(len(piece) for piece in pieces)
        c = np.zeros((degree, len(pieces)))
        for i, piece in enumerate(pieces):
            c[degree - len(piece) :, i] = piece
        self._starts = np.array(starts_s, dtype=np.float64)
        self._poly = PPoly(c, np.append(self._starts, self._starts[-1] + 1.0), extrapolate=True)

    def __call__(self, t: ArrayLike, derivative: int = 0) -> NDArray[np.float64]:
        t = np.asarray(t, dtype=np.float64)
        near = self._starts[self._piece(t)]
        return self._poly(np.where(np.abs(t - near) < SNAP_S, near, t), derivative)

    def change(self, begin_s: ArrayLike, end_s: ArrayLike) -> NDArray[np.float64]:
        """How far the value moves from begin to end within the piece of the begin, without a jump at the end."""
        begin_s, end_s = np.asarray(begin_s, dtype=np.float64), np.asarray(end_s, dtype=np.float64)
        piece = self._piece(begin_s)
        values = []
        for t in (begin_s, end_s):
            value = np.zeros(t.shape)
            for coefficients in self._poly.c:  # falling powers
                value = value * (t - self._starts[piece]) + coefficients[piece]
            values.append(value)
        return values[1] - values[0]

    def _piece(self, t: NDArray[np.float64]) -> NDArray[np.intp]:
        return np.clip(np.searchsorted(self._starts, t + SNAP_S, side="right") - 1, 0, None)


def _minimum_jerk(start: float, end: float, over_s: float) -> list[float]:
    """start + (end - start)(10 s^3 - 15 s^4 + 6 s^5), s = time / over_s."""
    d = end - start
    return [6 * d / over_s**5, -15 * d / over_s**4, 10 * d / over_s**3, 0.0, 0.0, start]


def target_profile(commands: Sequence[Command], idle: float) -> Profile:
    """What a motor is asked for over time: its command's value, `idle` before the first and after an `until_s`."""
    starts, pieces, last = [0.0], [[idle]], idle
    for i, command in enumerate(commands):
        end = commands[i + 1].at_s if i + 1 < len(commands) else np.inf
        _check_room(command, end)
        if command.over_s > SNAP_S:
            starts.append(command.at_s)
            pieces.append(_minimum_jerk(last, command.value, command.over_s))
        starts.append(command.at_s + command.over_s)
        pieces.append([command.value])
        last = command.value
        if command.until_s is not None and command.until_s < end:
            starts.append(command.until_s)
            pieces.append([0.0])
            last = 0.0
    return Profile(*_without_empty(starts, pieces))


def joint_profile(commands: Sequence[Command], start: float) -> Profile:
    """Where a driven joint is over time, exactly: it rests, turns at a speed, or moves smoothly to a position."""
    starts, pieces, position = [0.0], [[start]], start
    for i, command in enumerate(commands):
        end = commands[i + 1].at_s if i + 1 < len(commands) else np.inf
        _check_room(command, end)
        if command.kind == "position":
            if command.over_s <= SNAP_S:
                raise InputError(
                    f'program: "{command.name}" at {command.at_s:g} s goes to a position in no time; '
                    "a driven joint needs over_s, the time the move takes"
                )
            starts.append(command.at_s)
            pieces.append(_minimum_jerk(position, command.value, command.over_s))
            starts.append(command.at_s + command.over_s)
            pieces.append([command.value])
            position = command.value
        elif command.kind == "speed":
            starts.append(command.at_s)
            pieces.append([command.value, position])
            stop = end if command.until_s is None else min(end, command.until_s)
            if np.isfinite(stop):
                position += command.value * (stop - command.at_s)
                starts.append(stop)
                pieces.append([position])
        else:
            raise InputError(
                f'program: "{command.name}" is driven and cannot take a torque; '
                'give a speed or a position, or set drive = "motors"'
            )
    return Profile(*_without_empty(starts, pieces))


def _check_room(command: Command, end_s: float) -> None:
    if command.at_s + command.over_s > end_s + SNAP_S:
        raise InputError(
            f'program: "{command.name}" is still moving (until {command.at_s + command.over_s:g} s) when its next '
            f"command begins ({end_s:g} s); shorten over_s or begin later"
        )


def _without_empty(starts: list[float], pieces: list[list[float]]) -> tuple[list[float], list[list[float]]]:
    """Drop pieces that last no time: a later one at the same instant takes their place."""
    keep = [i for i in range(len(starts)) if i + 1 == len(starts) or starts[i + 1] - starts[i] > SNAP_S]
    return [starts[i] for i in keep], [pieces[i] for i in keep]
