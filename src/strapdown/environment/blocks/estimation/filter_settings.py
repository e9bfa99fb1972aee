"""Titles, units, limits and descriptions of the settings of the orientation filters, for the forms of their blocks.

Every field of a filter has a line here; tests/environment/blocks/test_filter_blocks.py checks that.
"""

from typing import NamedTuple


class Setting(NamedTuple):
    """One number of the settings: its text in a form, and its valid values."""

    title: str
    unit: str
    low: float
    high: float
    description: str


_MUCH = 1e6
_LITTLE = 1e-12  # for what must be above 0


def _above_0(title: str, unit: str, description: str, high: float = _MUCH) -> Setting:
    return Setting(title, unit, _LITTLE, high, description)


def _from_0(title: str, unit: str, description: str, high: float = _MUCH) -> Setting:
    return Setting(title, unit, 0.0, high, description)


SHARED = {
    "declination_rad": Setting("Declination", "rad", -4.0, 4.0, "Magnetic north from true north, east positive."),
    "longest_step_s": _above_0("Longest step", "s", "A longer step without samples is predicted only."),
}

SWITCHES = {
    "magnetometer": ("Magnetometer", "On: 9 axes. Off: 6 axes, the heading is the gyroscope's."),
    "corrected": ("Corrected", "On: atan2, and angles mixed on the circle. Off: as printed."),
    "motion_bias": ("Bias in motion", "Estimate the gyroscope's bias in motion."),
    "rest_bias": ("Bias at rest", "Estimate the gyroscope's bias at rest."),
    "mag_rejection": ("Reject disturbed fields", "Reject magnetometer readings far from the reference field."),
}

_FIELD = {
    "mag_norm": _above_0("Field strength", "1", "Largest difference from the reference field, as a part of it."),
    "mag_dip_deg": _above_0("Field dip", "deg", "Largest difference from the dip of the reference field.", 180.0),
    "mag_reference_s": _above_0("Reference time", "s", "Time constant of the reference field."),
}
_REST = {
    "rest_least_s": _from_0("Rest time", "s", "Readings must be steady for this time."),
    "rest_gyr_dps": _from_0("Rest rate", "deg/s", "Largest distance of a rate from its mean at rest."),
    "rest_acc_mps2": _from_0("Rest force", "m/s2", "Largest distance of a specific force from its mean at rest."),
}
_BIAS = {
    "bias_sigma_start_dps": _above_0("Bias sigma at start", "deg/s", "Standard deviation of the gyroscope's bias."),
    "bias_sigma_motion_dps": _above_0("Bias sigma in motion", "deg/s", "Standard deviation reached in motion."),
    "bias_sigma_rest_dps": _above_0("Bias sigma at rest", "deg/s", "Standard deviation reached at rest."),
    "bias_forgetting_s": _above_0("Bias forgetting", "s", "Time in which a known bias becomes uncertain again."),
    "bias_clip_dps": _above_0("Largest bias", "deg/s", "Limit of the gyroscope's bias."),
}
_NEW_FIELD = {
    "mag_new_s": _from_0("New field time", "s", "Turning in a steady field for this time makes it the reference."),
    "mag_new_least_dps": _from_0("New field rate", "deg/s", "Least rate of such a turn."),
}

SETTINGS: dict[str, dict[str, Setting]] = {
    "gyro": {},
    "paper-b": {
        "weight": Setting("Weight", "1", 0.0, 1.0, "Share of accelerometer and magnetometer in a sample."),
        "time_constant_s": _from_0("Time constant", "s", "Above 0: replaces the weight by a time."),
        "low_pass_s": _from_0("Low-pass", "s", "Time constant of the low-pass on all signals; 0: none."),
        "calibration_s": _from_0("Calibration", "s", "Rest at the start; 0: no calibration."),
        "gravity_m_s2": _above_0("Gravity", "m/s2", "Gravity at the place."),
    },
    "complementary": {
        "inclination_s": _above_0("Inclination time", "s", "Time constant of roll and pitch."),
        "heading_s": _above_0("Heading time", "s", "Time constant of the heading."),
        "low_pass_s": _from_0("Low-pass", "s", "Time constant of the low-pass on force and field; 0: none."),
    },
    "mahony": {
        "inclination_gain": _from_0("Inclination gain", "1/s", "Correction of roll and pitch."),
        "heading_gain": _from_0("Heading gain", "1/s", "Correction of the heading."),
        "bias_gain": _from_0("Bias gain", "1/s2", "Correction of the gyroscope's bias; 0: none."),
    },
    "madgwick": {
        "beta_rad_s": _from_0("Beta", "rad/s", "Speed of the correction, as published."),
        "zeta_rad_s2": _from_0("Zeta", "rad/s2", "Speed of the bias estimate; 0: none."),
    },
    "mekf": {
        "gyr_white": _above_0("Gyroscope noise", "rad/sqrt(s)", "White noise N of the gyroscope."),
        "gyr_walk": _from_0("Gyroscope walk", "rad/s/sqrt(s)", "Random walk K of the gyroscope's bias."),
        "gyr_turn": _from_0("Gyroscope turn error", "1", "Noise that a turn of 1 rad/s adds."),
        "acc_white": _above_0("Accelerometer noise", "m/s/sqrt(s)", "White noise N of the accelerometer."),
        "mag_white": _above_0("Magnetometer noise", "uT sqrt(s)", "White noise N of the magnetometer."),
        "tilt_floor_rad": _from_0("Tilt floor", "rad", "Standard deviation of the tilt that no averaging removes."),
        "gravity": _above_0("Gravity", "m/s2", "Gravity at the place."),
        "motion_s": _from_0("Motion time", "s", "Correlation time of the motion's accelerations at first."),
        "motion_memory_s": _above_0("Motion memory", "s", "Time over which accelerations are followed."),
        "motion_start_mps2": _from_0("Motion at start", "m/s2", "Least acceleration in the first samples."),
        "acc_off_mps2": _above_0("Force limit", "m/s2", "Specific force further from gravity may be rejected."),
        "lost_s": _above_0("Lost time", "s", "Time after which a wrong attitude is looked for anew."),
        "mag_disturbance_deg": _from_0("Field disturbance", "deg", "Standard deviation of magnetic north."),
        "mag_disturbance_s": _from_0("Disturbance time", "s", "Correlation time of that."),
        **_FIELD,
        "mag_patience_s": _above_0("Field patience", "s", "Time of rejection until field and heading are found anew."),
        "gate": _above_0("Gate", "1", "Largest innovation in standard deviations."),
        "bias_start_dps": _above_0("Bias sigma at start", "deg/s", "Standard deviation of the gyroscope's bias."),
        "attitude_start_deg": _from_0("Attitude sigma at start", "deg", "Standard deviation of a given attitude."),
    },
    "vqf": {
        "tau_acc_s": _above_0("Inclination time", "s", "Time constant of roll and pitch."),
        "tau_mag_s": Setting("Heading time", "s", -1.0, _MUCH, "Time constant of the heading; below 0: none."),
        **_BIAS,
        "bias_vertical_factor": _from_0("Vertical factor", "1", "Weight of the vertical bias in motion."),
        **_REST,
        "rest_tau_s": _above_0("Rest filter", "s", "Time constant of the means at rest."),
        "mag_tau_s": _from_0("Field filter", "s", "Time constant of strength and dip of the field."),
        "mag_reference_tau_s": Setting("Reference time", "s", -1.0, _MUCH, "Time constant of the reference field."),
        "mag_norm": _from_0("Field strength", "1", "Largest difference from the reference field, as a part of it."),
        "mag_dip_deg": _from_0("Field dip", "deg", "Largest difference from the dip of the reference field.", 180.0),
        **_NEW_FIELD,
        "mag_new_first_s": _from_0("First field time", "s", "The same for the first reference."),
        "mag_clean_s": _from_0("Clean time", "s", "A field must be undisturbed for this time."),
        "mag_longest_rejection_s": _from_0("Longest rejection", "s", "Disturbed fields are rejected for this time."),
        "mag_rejection_factor": _above_0("Rejection factor", "1", "By so much they weigh less afterwards."),
    },
    "lodestar": {
        "tau_acc_s": _above_0("Inclination time", "s", "Time constant of roll and pitch."),
        **_REST,
        "rest_tilt_deg": _above_0("Rest tilt", "deg", "Turn of the force in 1 s at rest; further is a slow turn."),
        "rest_heading_deg": _above_0(
            "Rest heading", "deg", "Turn of the field in 1 s at rest; further is a slow turn."
        ),
        **_BIAS,
        "mag_noise_deg": _above_0("Field noise", "deg", "Standard deviation of a magnetic heading over 1 s."),
        "mag_noise_growth": _from_0("Noise growth", "1", "By so much the noise grows up to the limits of the field."),
        **_FIELD,
        "mag_rest_deg": _from_0("Field at rest", "deg", "Standard deviation of north between places of rest."),
        "mag_place_deg": _from_0("Field of a place", "deg", "Standard deviation of north in an unknown place."),
        "mag_walk_deg": _from_0("Field walk", "deg", "Change of magnetic north in 1 s of motion."),
        "drift_dps": _from_0("Drift", "deg/s", "Error of the bias in motion."),
        "matrix_percent": _from_0("Scale and axes", "%", "Error of the gyroscope's scales and axes."),
        "gyr_noise_deg": _from_0("Gyroscope noise", "deg/sqrt(s)", "White noise N of the gyroscope."),
        **_NEW_FIELD,
        "mag_hold_s": _above_0("Disturbance memory", "s", "Time in which a disturbance is forgotten."),
        "start_heading_deg": _above_0("Heading sigma at start", "deg", "Standard deviation of a given heading."),
        "tilt_deg": _from_0("Tilt sigma", "deg", "Standard deviation of the inclination at rest."),
        "block_s": _above_0("Heading step", "s", "Time between two steps of the heading filter."),
    },
}

# of the block eskf: a setting, and its default where it is not that of the filter
ESKF: dict[str, tuple[Setting, float | None]] = {
    "gyr_white": (_above_0("Gyroscope noise", "rad/sqrt(s)", "White noise N of the gyroscope."), None),
    "acc_white": (_above_0("Accelerometer noise", "m/s/sqrt(s)", "White noise N of the accelerometer."), 0.02),
    "gyr_bias_sigma": (_from_0("Gyroscope bias", "rad/s", "Standard deviation of the constant offset."), None),
    "acc_bias_sigma": (_from_0("Accelerometer bias", "m/s2", "Standard deviation of the constant offset."), None),
    "gyr_drift": (_from_0("Gyroscope drift", "rad/s", "Standard deviation of the slow part of the bias."), None),
    "acc_drift": (_from_0("Accelerometer drift", "m/s2", "Standard deviation of the slow part of the bias."), None),
    "drift_time_s": (_above_0("Drift time", "s", "Correlation time of the slow parts."), None),
    "gyr_walk": (_from_0("Gyroscope walk", "rad/s/sqrt(s)", "Random walk K of the gyroscope's bias."), None),
    "acc_walk": (_from_0("Accelerometer walk", "m/s2/sqrt(s)", "Random walk K of the accelerometer's bias."), None),
    "gyr_matrix_sigma": (_from_0("Gyroscope scale", "1", "Standard deviation of scale and cross-coupling."), None),
    "acc_scale_sigma": (_from_0("Accelerometer scale", "1", "Standard deviation of its scale."), None),
    "acc_axes_sigma": (_from_0("Accelerometer axes", "1", "Standard deviation of what it reads across body x."), None),
    "gate_probability": (
        Setting("Gate", "1", 0.0, 0.999, "How often an honest measurement may be rejected; 0: never."),
        None,
    ),
    "gap_s": (_above_0("Gap", "s", "A longer step without samples is a gap."), None),
    "gravity_m_s2": (Setting("Gravity", "m/s2", 0.1, 100.0, "Gravity at the place."), 9.81),
    "height_sigma_m": (_above_0("Height sigma", "m", "Standard deviation of a height."), 0.05),
    "start_height_m": (Setting("Start height", "m", -1e5, 1e5, "Height at the start where none is measured."), 0.0),
    "heading_sigma_deg": (_above_0("Magnetic sigma", "deg", "Standard deviation of a magnetic heading."), 2.0),
    "declination_deg": (Setting("Declination", "deg", -180.0, 180.0, "Magnetic north, east positive."), 0.0),
}
ESKF_SWITCHES = {
    "zero_velocity": ("Zero velocity", "Use stops: the velocity is 0.", True),
    "zero_rate": ("Zero rate", "Use stops: the angular rate is 0.", True),
    "magnetic_heading": ("Magnetic heading", "Use the magnetometer's heading.", False),
    "wheels": ("Wheels", "The vehicle moves along its x axis on a flat floor; use the odometer if connected.", False),
}
