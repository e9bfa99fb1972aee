"""The limits by which a log is judged, each with its derivation. Tests: tests/recordings/test_limits.py."""

import numpy as np

from strapdown.earth import STANDARD_GRAVITY
from strapdown.held_rows import HELD_SHARE as HELD_SHARE  # where a recording is made, flags follow from it

# ---------------------------------------------------------------- time
SLOWEST_S = 1.0  # usual step: the slowest logs are of chambers and nights, one sample a second
SUSPECT_S = 0.5  # usual step that no inertial sensor is read at, but that 1 kHz in ms gives (as 1 s)

# ---------------------------------------------------------------- accelerometer
# |f| / gravity at the median of a log that may move. A hard run has 1.5, a falling body's log still has its rest; in g
# it is 0.1, in mg or counts above 100
LIKE_GRAVITY = (0.3, 3.0)
# |f| / gravity - 1 at rest. The largest offset printed for a digital part is 150 mg (BNO055), the largest tolerance of
# scale 3 %; more is another unit or another range
MOST_OFF_GRAVITY = 0.18
# From 3 % on it is reported: calibrated parts are below 1 %, tolerances of scale of uncalibrated ones end here
OFF_GRAVITY = 0.03
# A drive that starts with 5 % of gravity as its error gains 0.5 m/s in a second, more than stops can correct
STARTS_OFF_GRAVITY = 0.05
QUIET_M_S2 = 0.06  # scatter of a sample on a table: 400 ug/rtHz (MPU-6050) over 100 Hz are 0.04 m/s2
CALM_M_S2 = 0.15  # scatter of a sample within which the mean force is gravity: noise of every part, no steps or strokes
STILL_RAD_S = 0.05  # 3 deg/s: an aircraft in a steady turn is as calm as a table, feels 1.2 g, and turns faster
EARTH_LIKE_M_S2 = 4.0  # a place with less gravity (Moon, Mars) must be stated: there, 1 to 2 m/s2 are no readings in g

# ---------------------------------------------------------------- gyroscope
MOST_RATE_RAD_S = float(np.radians(2000.0))  # the widest range of common parts
MOST_FORCE_M_S2 = 16.0 * STANDARD_GRAVITY  # the widest range of common parts
RANGE_SLACK = 1.25  # calibration stretches readings, and full scales are nominal
LONGEST_SPIKE = 3  # samples; what lasts longer is no jump of single samples
PART_RATE_RAD_S = 150.0  # 8600 deg/s: beyond every part
MOST_FAULTS = 0.001  # of all rows may be beyond every part: faults of a wire; more is another unit
USUAL_RATE_RAD_S = 40.0  # at the median of a log: 2300 deg/s, beyond the range of common parts
# Offset at rest: 30 deg/s on each axis (LSM9DS1, the largest printed) have the norm 0.91 rad/s
MOST_OFFSET_RAD_S = 1.0
STEADY = 0.2  # share of the offset by which a steady reading scatters
# Noise of a sample at rest: 0.0059 rad/s is the largest of the catalogue at 1 kHz (ICM-20948). In deg/s the MPU-6050
# reads 0.035 at 100 Hz. Above the first number the unit is doubted, above the second it is another
DOUBTFUL_NOISE_RAD_S, MOST_NOISE_RAD_S = 0.015, 0.05
UNCALIBRATED_RAD_S = float(np.radians(1.0))  # at rest: filters take more than 2 deg/s for a turn
ELSEWHERE = 0.05  # of all windows: an offset is in every reading, so hardly any window has less than half of it
FIELD_TURN_RAD = float(np.radians(1.0))  # in half a window: a magnetometer's noise, averaged there, is a third of it

# ---------------------------------------------------------------- gyroscope against accelerometer and magnetometer
# Specific force, rotated by the gyroscope into one frame and averaged over seconds, is gravity: accelerations average
# out. Recorded logs of walks, runs and hands have 0.82 to 1.16 of gravity; a wrong axis or unit has 0.2 to 0.7
GRAVITY_LOST, GRAVITY_KEPT = 0.8, 0.85
LEAST_LOST, LEAST_LOST_SHARE = 2, 0.05  # windows must have lost gravity: a single one may be a fall or a throw
# The same for the field, its hard iron removed: the share of its changes in the sensor that the gyroscope leaves open
FIELD_LOST, FIELD_KEPT = 0.5, 0.2
LEAST_TURN = 0.08  # rms change of the field over its size in a window that shows anything; noise has 0.01

# ---------------------------------------------------------------- magnetometer
EARTH_UT = (22.0, 67.0)  # weakest and strongest field at the ground
FIELD_UT = (2.0, 2000.0)  # at the median, hard iron included; in gauss it is below 1
LEAST_FIELD_UT = 0.1  # a reading below it is none: the Earth's field is 22 at least, and 0.2 if it is in gauss
DEAD_SHARE = 0.01  # of all samples without a reading, from which on it is reported
MOST_SATURATED = 0.2  # of all samples: more leave too little of the sphere
SATURATED_SAMPLES = (
    10  # at one and the same largest reading: turned through its largest reading a sensor passes near it
)
TURNING_RAD_S = 0.35  # 20 deg/s: faster is no rest
ALIKE_SAMPLES = 100  # a coarse count may hide the noise for a moment, not for so many samples
MOST_SPREAD = 0.1  # of the field's norm while it turns: where filters begin to reject
ONE_DIRECTION = 0.9  # length of the mean direction: above, the log shows one side of the sensor only
SILENT_S, SILENT_STEPS = 5.0, 10.0  # without a magnetometer reading, and so many times its usual step: reported

# ---------------------------------------------------------------- temperature
CELSIUS = (-60.0, 200.0)  # beyond every part's limits; 293 is room temperature in kelvin
