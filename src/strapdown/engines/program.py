"""The program of a robot: a timeline of speeds, positions, torques and forces, known in advance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PPoly

from strapdown.engines.course import Course
from strapdown.errors import InputError

SAME_PLACE = 1e-6  # rad or m: a driven joint does not jump
SNAP_S = 1e-9  # times closer than this are the same instant: k * step and a typed number differ by roundoff


@dataclass(frozen=True)
class Command:
    """From `at_s` on, the named motor or joint follows a value: rad, rad/s or N m (m, m/s or N if it slides).

    `until_s`: a speed or torque ends there (0 from then on). `over_s`: a position is reached smoothly in that time
    (minimum jerk) instead of in a step. `course`: the value follows a sinusoid, a table or a function of the time since
    `at_s`. At its end a position is kept; a speed or torque is 0. A course has no `value`, `until_s` and `over_s`.
    """

    name: str
    kind: str  # "speed", "position" or "torque"
    value: float
    at_s: float
    until_s: float | None = None
    over_s: float = 0.0
    course: Course | None = None

    @classmethod
    def along(cls, name: str, kind: str, course: Course, at_s: float = 0.0) -> "Command":
        """A motor or joint that follows a course.

        kind: "position", "speed" or "torque".
        """
        if kind not in ("position", "speed", "torque"):
            raise InputError(f'a course of kind "{kind}" is not known; valid: position, speed, torque')
        return cls(name, kind, 0.0, at_s, course=course)

    @property
    def end_s(self) -> float:
        """Time at which a move or a course ends."""
        return self.at_s + (self.over_s if self.course is None else self.course.duration_s)


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
            ends += [command.at_s, command.end_s]
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
        """Change of the value from begin to end within the piece of the begin, without a jump at the end."""
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
    """The target of a motor over time: the value of its command, and `idle` before the first command and after an
    `until_s`."""
    starts, pieces, last = [0.0], [[idle]], idle
    for i, command in enumerate(commands):
        end = commands[i + 1].at_s if i + 1 < len(commands) else np.inf
        _check_room(command, end)
        if command.course is not None:
            last = _append(command.course, command, starts, pieces, command.kind == "position")
            continue
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
    """Exact position of a driven joint over time: it rests, turns at a speed, or moves smoothly to a position."""
    starts, pieces, position = [0.0], [[start]], start
    for i, command in enumerate(commands):
        end = commands[i + 1].at_s if i + 1 < len(commands) else np.inf
        _check_room(command, end)
        if command.course is not None:
            position = _append(_driven(command, position), command, starts, pieces, True)
        elif command.kind == "position":
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
            raise _no_torque(command)
    return Profile(*_without_empty(starts, pieces))


def _append(course: Course, command: Command, starts: list[float], pieces: list[list[float]], kept: bool) -> float:
    """The pieces of a course, and the value after it: its last one, or 0."""
    starts += [command.at_s + start for start in course.starts_s]
    pieces += [list(piece) for piece in course.pieces]
    last = float(course(course.duration_s)) if kept else 0.0
    starts.append(command.end_s)
    pieces.append([last])
    return last


def _driven(command: Command, position: float) -> Course:
    """The course of a driven joint's position; it must begin where the joint is."""
    assert command.course is not None
    if command.kind == "speed":
        return command.course.integrated(position)
    if command.kind == "torque":
        raise _no_torque(command)
    begin = float(command.course(0.0))
    if abs(begin - position) > SAME_PLACE:
        raise InputError(
            f'program: the course of "{command.name}" at {command.at_s:g} s begins at {begin:.6g}, and the joint is at '
            f"{position:.6g} (rad or m); begin it there, or move there first"
        )
    return command.course


def _no_torque(command: Command) -> InputError:
    return InputError(
        f'program: "{command.name}" is driven and cannot take a torque; '
        'give a speed or a position, or set drive = "motors"'
    )


def _check_room(command: Command, end_s: float) -> None:
    if command.end_s > end_s + SNAP_S:
        raise InputError(
            f'program: "{command.name}" is still moving (until {command.end_s:g} s) when its next '
            f"command begins ({end_s:g} s); shorten over_s or begin later"
        )


def _without_empty(starts: list[float], pieces: list[list[float]]) -> tuple[list[float], list[list[float]]]:
    """Remove pieces of zero duration: a later one at the same instant replaces them."""
    keep = [i for i in range(len(starts)) if i + 1 == len(starts) or starts[i + 1] - starts[i] > SNAP_S]
    return [starts[i] for i in keep], [pieces[i] for i in keep]
