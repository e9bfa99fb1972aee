"""Places of the numbers of Lodestar's heading filter, behind those of the inclination: settings, sums, memory."""

from strapdown.kernels.orientation.vqf.inclination import INCLINATION_END, INCLINATION_SETTINGS_END

DRIFTS = 12  # b (3) and the error of the gyroscope's matrix (9, by rows): what turns delta in motion
N = DRIFTS + 2
D = N - 1  # the last state
# settings
_S = INCLINATION_SETTINGS_END
BLOCK_S = _S  # s, length of a block
NOISE = _S + 1  # rad^2 s, of the magnetic heading: its square over the length of the block is the variance
NOISE_GROWTH = _S + 2  # by how many times the noise is larger at the limit of norm and dip
REST_VARIANCE = _S + 3  # rad^2, of d from one place of rest to another
WALK = _S + 4  # rad^2/s, of d in motion
DRIFT_VARIANCE = _S + 5  # (rad/s)^2, of b
MATRIX_VARIANCE = _S + 6  # of an entry of the gyroscope's matrix
GYR_NOISE = _S + 7  # rad^2/s, variance of delta per second
NORM_OFF = _S + 8  # largest distance from the reference, as a part of its norm
DIP_OFF = _S + 9  # rad
TAU_REFERENCE = _S + 10  # s, at which the reference follows
NEW_TIME = _S + 11  # s of turning in a steady field until it becomes the reference
NEW_RATE = _S + 12  # rad/s, least rate that counts as turning
HOLD_TIME = _S + 13  # s, at which the memory of a disturbance fades
START_VARIANCE = _S + 14  # rad^2, of the heading of a given attitude
PLACE_VARIANCE = _S + 15  # rad^2, of d where nothing is known of the place
RETURN = _S + 16  # 1/s, at which d returns to 0 in motion
TILT_LIMIT, NORTH_LIMIT = _S + 17, _S + 18  # rad, furthest that force and level field turn in s at rest
TILT_FLOOR = _S + 19  # rad^2, variance of the inclination at rest
SETTINGS_SIZE = _S + 20
# sums over the block
_O = INCLINATION_END
BLOCK_T, BLOCK_TURN, BLOCK_COUNT = _O, _O + 1, _O + 2  # s, rad^2/s, readings of the magnetometer
BLOCK_UP = _O + 3  # s, integral of up_s
BLOCK_MATRIX = _O + 6  # rad, integrals of the products of up_s and turn rate; behind BLOCK_UP
BLOCK_FIELD = _O + 15  # sum of the readings in e
# memory
X = _O + 18
P = X + N
AIMED = P + N * N  # 0 until a reading or a given attitude has set delta
MOTION_T = AIMED + 1  # s in motion since the last rest
COS, SIN = AIMED + 2, AIMED + 3  # of half of delta
REFERENCE_NORM, REFERENCE_DIP, REFERENCE_T = AIMED + 4, AIMED + 5, AIMED + 6
CANDIDATE_NORM, CANDIDATE_DIP, CANDIDATE_T = AIMED + 7, AIMED + 8, AIMED + 9
OFF = AIMED + 10  # distance from the reference in units of its limit; 1 and more: rejected
# of the last block, for the smoother
MOVED = AIMED + 11  # s, up_s times the time in motion: how b went into delta
KEPT = MOVED + DRIFTS  # part of d that the block kept; 0 where d was drawn anew
GAIN = KEPT + 1
SURPRISE = GAIN + N  # innovation over its variance
CERTAINTY = SURPRISE + 1  # 1 over the variance of the innovation; 0: nothing measured
BESIDE, BESIDE_T = CERTAINTY + 1, CERTAINTY + 2  # rad, mean angle between field and heading, and s in it
UNSURE = CERTAINTY + 3  # 1 until a field of BESIDE_S has been seen after a given heading
EXCESS = CERTAINTY + 4  # rad^2, by which the given heading is less certain than stated
SPREAD = CERTAINTY + 5  # rad^2, of d in motion, as far as norm and dip of the field tell it
SETTLING = CERTAINTY + 6  # 1: come to rest, and its field is being averaged
IRON = CERTAINTY + 7  # rad^2, by which the last place of rest is further from north than places are
SPREAD_T = CERTAINTY + 8  # s of motion in it
LOST_T = CERTAINTY + 9  # s for which the field has pointed further from the heading than explained
END = CERTAINTY + 10
