"""Where the numbers of Lodestar's heading filter stand, behind those of the inclination: settings, sums, memory."""

from strapdown.kernels.orientation.vqf.inclination import INCLINATION_END

N = 5
_O = INCLINATION_END
# settings
DECLINATION = _O  # rad, of magnetic from true north, east positive
BLOCK_S = _O + 1  # s, length of a block
NOISE = _O + 2  # rad^2 s, of the magnetic heading: its square over the length of the block is the variance
NOISE_GROWTH = _O + 3  # by how many times the noise is larger at the limit of norm and dip
REST_VARIANCE = _O + 4  # rad^2, of d from one place of rest to another
WALK = _O + 5  # rad^2/s, of d in motion
DRIFT_VARIANCE = _O + 6  # (rad/s)^2, of b
TURN_NOISE = _O + 7  # s, variance of delta per second and squared turn rate
GYR_NOISE = _O + 8  # rad^2/s, variance of delta per second
NORM_OFF = _O + 9  # largest distance from the reference, as a part of its norm
DIP_OFF = _O + 10  # rad
TAU_REFERENCE = _O + 11  # s, at which the reference follows
NEW_TIME = _O + 12  # s of turning in a steady field until it becomes the reference
NEW_RATE = _O + 13  # rad/s, least rate that counts as turning
HOLD_TIME = _O + 14  # s, at which the memory of a disturbance fades
START_VARIANCE = _O + 15  # rad^2, of the heading of a given attitude
PLACE_VARIANCE = _O + 16  # rad^2, of d where nothing is known of the place
RETURN = _O + 17  # 1/s, at which d returns to 0 in motion
# sums over the block
BLOCK_T, BLOCK_TURN, BLOCK_COUNT = _O + 18, _O + 19, _O + 20  # s, rad^2/s, readings of the magnetometer
BLOCK_UP = _O + 21  # s, integral of up_s
BLOCK_FIELD = _O + 24  # sum of the readings in e
# memory
X = _O + 27
P = X + N
AIMED = P + N * N  # 0 until a reading or a given attitude has set delta
MOTION_T = AIMED + 1  # s in motion since the last rest
COS, SIN = AIMED + 2, AIMED + 3  # of half of delta
REFERENCE_NORM, REFERENCE_DIP, REFERENCE_T = AIMED + 4, AIMED + 5, AIMED + 6
CANDIDATE_NORM, CANDIDATE_DIP, CANDIDATE_T = AIMED + 7, AIMED + 8, AIMED + 9
OFF = AIMED + 10  # distance from the reference in units of its limit; 1 and more: rejected
# of the last block, for the smoother
MOVED = AIMED + 11  # s, up_s times the time in motion: how b went into delta
KEPT = AIMED + 14  # part of d that the block kept; 0 where d was drawn anew
GAIN = AIMED + 15
SURPRISE = GAIN + N  # innovation over its variance
CERTAINTY = SURPRISE + 1  # 1 over the variance of the innovation; 0: nothing measured
BESIDE, BESIDE_T = CERTAINTY + 1, CERTAINTY + 2  # rad, mean of what the field points beside the heading, and s in it
UNSURE = CERTAINTY + 3  # 1 until a field of BESIDE_S has been seen after a given heading
EXCESS = CERTAINTY + 4  # rad^2, by which the given heading is less sure than it was said to be
SPREAD = CERTAINTY + 5  # rad^2, of d in motion, as far as norm and dip of the field tell it
SETTLING = CERTAINTY + 6  # 1: come to rest, and its field is being averaged
IRON = CERTAINTY + 7  # rad^2, by which the last place of rest is further beside north than places are
END = CERTAINTY + 8
