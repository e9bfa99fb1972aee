"""The blocks of the package, one file for each group. KINDS has them by name."""

from strapdown.environment.blocks import (
    actuators,
    arithmetic,
    attitude,
    console,
    eskf_block,
    estimate,
    filters,
    flight_control,
    ground_control,
    height_control,
    imu_block,
    integrator,
    limits,
    logic,
    mixers,
    orientation_filters,
    pid,
    position_control,
    sensor_checks,
    sources,
    static_calibration,
    sticks,
    taps,
    truth,
    vectors,
    watching,
)
from strapdown.environment.diagram.kinds import kinds_of

GENERAL = (sources, arithmetic, vectors, attitude, limits, logic, integrator, filters, pid, watching)
VEHICLE = (
    *(console, taps, sensor_checks, truth, static_calibration, imu_block, orientation_filters, eskf_block),
    *(sticks, position_control, flight_control, height_control, mixers, ground_control, actuators, estimate),
)
MODULES = (*GENERAL, *VEHICLE)
KINDS = kinds_of(MODULES)
