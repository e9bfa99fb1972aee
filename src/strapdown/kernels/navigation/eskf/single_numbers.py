"""Measurements of one number each: floor, wheels, heading and height.

Each aid writes its row into H. The aid returns whether it is to be used, the derivative by its considered parameter,
the variance and the innovation. All kinds are in one loop: a call from one place is compiled once.
"""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.navigation.eskf.floor import LEFT_S, along_ground, floor
from strapdown.kernels.navigation.eskf.layout import (
    FLOOR,
    FLOOR_SLOPE,
    HEADING,
    HEIGHT,
    ODOMETER,
    ODOMETER_SCALE,
    P_N,
    PAST_FREE_S,
    POSITION,
    S_FLOOR_SLOPE_VAR,
    S_FLOOR_V_R,
    S_GATE_1,
    S_HUBER_2,
    S_LEVER_VAR,
    S_MAG_R,
    S_ODO_R,
    S_ODO_SCALE_VAR,
    S_SIDE_R,
    S_UP_R,
    SEEN_HEIGHT,
    SEEN_MAG,
    SEEN_ODOMETER,
    SEEN_STOP,
    SIDEWAYS,
    TILTED_S,
    UPWARD,
    WIDER,
    X_HEIGHT,
    X_HEIGHT_SIGMA,
    X_TRAVEL,
)
from strapdown.kernels.navigation.eskf.magnetic_heading import heading
from strapdown.kernels.navigation.eskf.updates import NOT_USED, only, spread_of, take, told
from strapdown.kernels.navigation.eskf.wheels import (
    LATELY_S,
    body_speed,
    follow_roughness,
    follow_slip,
    turn_rate,
    wheel,
)

MOST_WIDER = 1e4
LIGHT = 9.0  # of the NIS at which a weight begins to fall: it is then below a third


@internal
def numbers(x, s, seen, gyr, mag, extra, dt, tape, taped):
    """Measurements of one number each."""
    stop = seen & SEEN_STOP != 0
    for kind in (FLOOR, SIDEWAYS, UPWARD, ODOMETER, HEADING, HEIGHT):
        use, h_consider, variance, e = NOT_USED
        ground = 0.0
        if kind == FLOOR:
            use, h_consider, variance, e = floor(x, s, stop, dt)
        elif kind in (SIDEWAYS, UPWARD):
            on_ground = (
                kind == UPWARD and s[S_FLOOR_SLOPE_VAR] > 0.0 and (s[S_FLOOR_V_R] < 0.0 or x[TILTED_S] >= LEFT_S)
            )
            variance = s[S_SIDE_R] if kind == SIDEWAYS or on_ground else s[S_UP_R]
            use = variance >= 0.0 and not stop
            if use:  # wheels roll: the body's origin moves neither to the side nor off its floor
                mounting = 0.0
                if on_ground:
                    mounting, ground, lasts_s = along_ground(x, s)
                    variance += 2.0 * ground * lasts_s / max(dt, 1e-9)
                e = -body_speed(x, s, mounting, 1.0 if kind == SIDEWAYS else 0.0, 0.0 if kind == SIDEWAYS else 1.0, gyr)
                turn = turn_rate(x, s, gyr, dt)
                # it stays the same while the turn lasts: as white noise it counts as often as it is measured in 1 s
                variance += s[S_LEVER_VAR] * turn * turn / max(min(dt, 1.0), 1e-9)
        elif kind == ODOMETER:
            if seen & SEEN_ODOMETER != 0 and s[S_ODO_R] >= 0.0 and dt > 0.0:
                use, h_consider, variance, e = wheel(x, s, extra[X_TRAVEL], gyr, dt, stop)
        elif kind == HEADING:
            dead = mag[0] == 0.0 and mag[1] == 0.0 and mag[2] == 0.0  # some modules give zeros for no reading
            if seen & SEEN_MAG != 0 and s[S_MAG_R] >= 0.0 and not dead:
                use, h_consider, variance, e = heading(x, s, mag, dt)
        elif seen & SEEN_HEIGHT != 0:
            only(x, not_constant(P_N + 2))
            use, variance, e = True, extra[X_HEIGHT_SIGMA] ** 2, extra[X_HEIGHT] - x[POSITION + 2]
        if use:
            considered = FLOOR_SLOPE if kind == FLOOR else ODOMETER_SCALE
            of_it = s[S_FLOOR_SLOPE_VAR] if kind == FLOOR else s[S_ODO_SCALE_VAR]
            spread, left = spread_of(x, considered, h_consider if of_it > 0.0 else 0.0, of_it, variance, e)
            if spread - variance < ground:  # the filter knows better how fast it climbs
                continue
            robust = s[S_HUBER_2] > 0.0 and kind in (FLOOR, SIDEWAYS, UPWARD, ODOMETER)
            nis = left * left / spread
            if robust and kind == ODOMETER:
                follow_roughness(x, s, nis, variance < 0.5 * spread)
                follow_slip(x, s, left, spread)
            elif robust:  # a floor that waves, or wheels that slide, are as good as they have lately shown to be
                x[WIDER + kind] += min(dt / LATELY_S, 1.0) * (min(nis, MOST_WIDER) - x[WIDER + kind])
                spread *= max(x[WIDER + kind], 1.0)
                nis = left * left / spread
            if robust and nis > s[S_HUBER_2]:  # Huber: its pull does not grow further, and never ends
                spread *= math.sqrt(nis / s[S_HUBER_2])
            if told(x, kind, nis, LIGHT * s[S_HUBER_2] if robust else s[S_GATE_1]) or robust:
                take(x, spread, left, tape, taped)
                if kind != HEADING:
                    x[PAST_FREE_S] = 0.0
