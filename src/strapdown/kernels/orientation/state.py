"""Where the numbers of an orientation filter's state stand: the same head for all filters, then what is their own.

The settings of a filter stand in its state, so that a step needs one array and is a function of it and the sample.
"""

Q = 0  # q_ns, four numbers
BIAS = 4  # of the gyroscope, rad/s, frame s; zeros in filters that have none
SIGMA = 7  # standard deviations of the attitude about the axes of n, rad; zeros in filters that have none
FLAGS = 10  # of the last step, a sum of the bits below
STARTED = 11  # 0 until the first sample, or a given attitude, has set the attitude
OWN = 12  # settings and memory of the filter itself begin here

ACC_REJECTED = 1
MAG_REJECTED = 2
REST = 4
GAP = 8  # the step was longer than the filter follows, predicted only; or had no rate or no time, and was left out
