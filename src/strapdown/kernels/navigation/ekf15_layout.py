"""Places of the numbers of paper C's filter: its state x and its settings s, one array each.

States: p_n 0-2, v_n 3-5, a_n 6-8, body rates 9-11 (x right, y forward, z up), roll 12, heading 13, pitch 14.
"""

N = 15
M = 7  # measurements: specific force, rates, heading
V, A, W, ROLL, HEADING, PITCH = 3, 6, 9, 12, 13, 14

# state x: the 15 states, then
STOP_ROWS, FORCE_SUM, FIELD_ROWS, FIELD_SUM = 15, 16, 19, 20  # of the stop that goes on: rows and sums
SAID, NIS = 23, 24  # bits of this row, normalised innovation squared (-1: no update)
RATE_BIAS = 25  # rad/s, frame s: the mean rate of the alignment
SKIP = 28  # samples still to be passed over: those of the rest on which the filter was aligned
STARTED = 29  # below 0: the filter aligns itself
REST = 30  # sums over the rest at the start, while the filter aligns itself (navigation/self_alignment.py)
COVARIANCE = 56
SCRATCH = COVARIANCE + N * N  # of a step
BODY_TO_N, BY_RATE, BY_ANGLE = SCRATCH, SCRATCH + 9, SCRATCH + 18  # 3x3 each, by rows
FORCE_BY = SCRATCH + 27  # (3, 6): derivatives of the specific force by acceleration and by the three angles
FORCE, RATE, MAGNETIC = SCRATCH + 45, SCRATCH + 48, SCRATCH + 51  # readings, frame of the paper's body
INNOVATION, VARIANCE, LEFT, WHITE = SCRATCH + 54, SCRATCH + 61, SCRATCH + 68, SCRATCH + 75
PHT, GAIN, S = SCRATCH + 82, SCRATCH + 187, SCRATCH + 292  # (N, M), (N, M), (M, M)
X_SIZE = SCRATCH + 341

# what a row brings
SEEN_STOP, SEEN_FIELD = 1, 2
# what a row reports
BELIEVED, REFUSED, GAP, UPDATED, NOT_UPDATED = 1, 2, 4, 8, 16

# settings s
S_GRAVITY, S_FORCE_VAR, S_RATE_VAR, S_HEADING_VAR, S_ACC_Q, S_RATE_Q, S_ANGLE_Q = 0, 1, 2, 3, 4, 5, 6
S_STOP_FORCE, S_STOP_RATE, S_TILT_VAR, S_HEADING_VAR_0, S_DECLINATION = 7, 8, 9, 10, 11
S_GAP_S, S_GAP_ACC_Q, S_GAP_RATE_Q = 12, 13, 14
S_PRINTED_RATE, S_PRINTED_INNOVATION, S_PRINTED_CASES, S_PRINTED_RESET, S_PRINTED_COVARIANCE = 15, 16, 17, 18, 19
S_REST_BIAS = 20  # 1: the mean rate of the alignment is taken off; 0: not
S_R_PS = 21  # from s to the paper's body, by rows
S_N = 30  # N, as a number that the compiler does not know: loops over a known one are written out, 15 times
S_SIZE = 31
