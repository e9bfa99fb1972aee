"""Places of the settings of the multiplicative Kalman filter, and of its memory behind the covariance."""

from strapdown.kernels.orientation.mekf.update import MEMORY
from strapdown.kernels.orientation.start import KEPT_SIZE
from strapdown.kernels.orientation.state import OWN_SETTINGS as _O

GYR_WHITE2 = _O  # rad2/s
GYR_WALK2 = _O + 1  # rad2/s3
ACC_WHITE2 = _O + 2  # (m/s2)^2 s
GRAVITY = _O + 3
MOTION_S = _O + 4  # s, over which accelerations of the motion are correlated
MOTION_MEMORY_S = _O + 5  # s, over which their variance is followed
ACC_OFF = _O + 6  # m/s2, largest distance of the force's norm from gravity
TILT_FLOOR2 = _O + 7  # rad2, by the accelerometer's wander; never averaged away
MAG_WHITE2 = _O + 8  # uT2 s
MAG_DISTURBANCE2 = _O + 9  # rad2, of magnetic north
MAG_DISTURBANCE_S = _O + 10  # s, over which it is correlated
NORM_OFF = _O + 11  # part of the reference's norm
DIP_OFF = _O + 12  # rad
REFERENCE_S = _O + 13  # s, time constant of the reference field
PATIENCE_S = _O + 14  # s of rejection until the field, or the heading, is looked for anew
GATE2 = _O + 15  # largest normalised innovation squared
BIAS_START2 = _O + 16  # (rad/s)^2
ATTITUDE_START2 = _O + 17  # rad2, of a given attitude
MOTION_START2 = _O + 18  # (m/s2)^2, of the acceleration in the first sample
GYR_TURN2 = _O + 19  # s, what a squared rate (rad/s)^2 adds to GYR_WHITE2
LOST_S = _O + 20  # s for which force points elsewhere than up, or a good field than north, until it is believed
SETTINGS_SIZE = _O + 21

WAITED = MEMORY  # s since the last magnetometer reading
START2 = MEMORY + 1  # (m/s2)^2, acceleration that the inclination of the start is taken to have been off by
REFERENCE_NORM, REFERENCE_DIP, REFERENCE_T = MEMORY + 2, MEMORY + 3, MEMORY + 4  # uT, rad, s learned for
REJECTED_T = MEMORY + 5  # s without a magnetometer reading that was believed
# mean of specific force (m/s2) in n and in s, each with its unsteadiness (m/s2)^2 over long and over short; a wrong
# inclination is in the mean, and so not taken for motion
FORCE_N, FORCE_S = MEMORY + 6, MEMORY + 11
FORCE_T = MEMORY + 16  # s in the means
SLOW, SLOW2 = MEMORY + 17, MEMORY + 20  # m/s2, what differs from the mean in n, low-passed, and its mean square
LATE2 = MEMORY + 21  # (m/s2)^2, the short memory's unsteadiness in n, averaged as SLOW2 is
LOST_T = MEMORY + 22  # s for which the force has pointed elsewhere than up
LOST_P = MEMORY + 23  # rad2, of the inclination before that
BESIDE = MEMORY + 24  # rad, mean angle of believed fields from north
BESIDE_T = MEMORY + 25  # s for which that has been too much
ROUGH2 = MEMORY + 26  # (m/s2)^2, what norm and rate tell of the motion's strength, whatever the attitude
AIMED_P = MEMORY + 27  # rad2, of the inclination (both axes) from which the heading was taken; 0: nobody took it
STEEP2 = MEMORY + 28  # squared tangent of the field's dip: by so much is an error of the inclination in the heading
# a field that differs from the reference: norm (uT), dip (rad), and s for which it stayed while the sensor turned
OTHER_NORM, OTHER_DIP, OTHER_T = MEMORY + 29, MEMORY + 30, MEMORY + 31
# level parts of the mean force in n: its mean square (m/s2)^2, the parts behind a second low-pass, their mean square
LEVEL2, BAND, BAND2 = MEMORY + 32, MEMORY + 33, MEMORY + 35
FEEDBACK = MEMORY + 36  # 1/s, at which the last force corrected the inclination
IRON2 = MEMORY + 37  # rad2, by which norm and dip have opened the angle of the place where the sensor rests
SEEMS_IRON2 = MEMORY + 38  # rad2, mean of what norm and dip show
STEADY, QUIET_T = MEMORY + 39, MEMORY + 42  # m/s2, mean force in s; s for which the sensor has rested
ARRIVED, ARRIVED_T = MEMORY + 43, MEMORY + 44  # rad, mean angle of the field at a new place, and s averaged
FIRST = MEMORY + 45  # a first sample that waits for the step
STATE_SIZE = FIRST + KEPT_SIZE
