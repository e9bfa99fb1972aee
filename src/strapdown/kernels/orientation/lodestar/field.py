"""Which magnetic field Lodestar believes: one near a reference in norm and dip (after Laidig and Seel 2023)."""

import math

from strapdown.kernels.jit import internal, not_constant
from strapdown.kernels.orientation.lodestar.layout import (
    BLOCK_T,
    BLOCK_TURN,
    CANDIDATE_DIP,
    CANDIDATE_NORM,
    CANDIDATE_T,
    DIP_OFF,
    HOLD_TIME,
    MOTION_T,
    NEW_RATE,
    NEW_TIME,
    NORM_OFF,
    OFF,
    PLACE_VARIANCE,
    REFERENCE_DIP,
    REFERENCE_NORM,
    REFERENCE_T,
    SPREAD,
    SPREAD_T,
    TAU_REFERENCE,
)

SPREAD_S = 100.0  # s of motion over which the spread of norm and dip is averaged


@internal
def _off(state, settings, norm, dip, reference):
    """Distance from a reference (norm, dip) in units of the limits."""
    norm_0 = state[reference]
    return max(abs(norm - norm_0) / (settings[NORM_OFF] * norm_0), abs(dip - state[reference + 1]) / settings[DIP_OFF])


@internal
def _follow(state, norm, dip, reference, k):
    state[reference] += k * (norm - state[reference])
    state[reference + 1] += k * (dip - state[reference + 1])


@internal
def judge_field(state, settings, norm, dip, level):
    """Distance of this field from the reference. The reference is the mean of the first fields, then follows slowly.

    level: squared part of the field that is level. Returns True if the field is the new reference.
    """
    dt, tau = state[BLOCK_T], settings[TAU_REFERENCE]
    if state[REFERENCE_T] == 0.0:
        state[REFERENCE_NORM], state[REFERENCE_DIP] = norm, dip
    state[OFF] = max(
        _off(state, settings, norm, dip, not_constant(REFERENCE_NORM)), state[OFF] * math.exp(-dt / settings[HOLD_TIME])
    )
    if state[OFF] < 1.0:
        if state[MOTION_T] > 0.0:  # iron turns a field as far about the vertical as it changes norm and dip
            beside_norm, beside_dip = norm / state[REFERENCE_NORM] - 1.0, dip - state[REFERENCE_DIP]
            now = 0.5 * (beside_norm * beside_norm + beside_dip * beside_dip) / level
            state[SPREAD_T] = min(state[SPREAD_T] + dt, SPREAD_S)
            k = min(dt / max(state[SPREAD_T], tau), 1.0)
            state[SPREAD] += k * (min(now, settings[PLACE_VARIANCE]) - state[SPREAD])
        state[REFERENCE_T] = min(state[REFERENCE_T] + dt, tau)
        _follow(state, norm, dip, not_constant(REFERENCE_NORM), min(dt / state[REFERENCE_T], 1.0))
        state[CANDIDATE_NORM] = 0.0
        return False
    if state[CANDIDATE_NORM] == 0.0 or _off(state, settings, norm, dip, not_constant(CANDIDATE_NORM)) >= 1.0:
        state[CANDIDATE_NORM], state[CANDIDATE_DIP], state[CANDIDATE_T] = norm, dip, 0.0
        return False
    _follow(state, norm, dip, not_constant(CANDIDATE_NORM), min(dt / tau, 1.0))
    if state[BLOCK_TURN] > settings[NEW_RATE] * settings[NEW_RATE] * dt:
        state[CANDIDATE_T] += dt
    if state[CANDIDATE_T] < min(settings[NEW_TIME], state[REFERENCE_T]):
        return False
    state[REFERENCE_NORM], state[REFERENCE_DIP] = state[CANDIDATE_NORM], state[CANDIDATE_DIP]
    state[REFERENCE_T] = min(state[CANDIDATE_T], tau)
    state[CANDIDATE_NORM], state[OFF] = 0.0, 0.0
    return True
