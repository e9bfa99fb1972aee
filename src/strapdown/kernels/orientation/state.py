"""Places of the numbers of an orientation filter: its state, and its settings in a separate array.

A step is a function of state, settings and sample. Both arrays have the same head in all filters, then a filter's own
numbers. A state holds no setting, so a filter with other settings continues from it.
"""

# state
Q = 0  # q_ns, four numbers
BIAS = 4  # of the gyroscope, rad/s, frame s; zeros in filters that estimate none
SIGMA = 7  # standard deviations of the attitude about the axes of n, rad; zeros in filters that estimate none
FLAGS = 10  # of the last step, a sum of the bits below
STARTED = 11  # 0 until the first sample, or a given attitude, has set the attitude
USUAL_STEP = 12  # s between two samples; 0: not known; WAITS: not known, and the first sample is kept until it is
OWN = 13  # a filter's own memory begins here

WAITS = -1.0

ACC_REJECTED = 1
MAG_REJECTED = 2
REST = 4
GAP = 8  # the step was longer than the filter follows, and was predicted only; or its rate or dt was rejected

# settings
USE_MAG = 0  # 1 or 0
DECLINATION = 1  # rad, of magnetic from true north, east positive
LONGEST = 2  # s: a longer step is a gap
KEY = 3  # differs between settings: numbers in a state that were computed from other settings are computed again
OWN_SETTINGS = 4  # a filter's own settings begin here
