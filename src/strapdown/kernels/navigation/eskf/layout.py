"""Places of the numbers of the error-state filter: its state x and its settings s, one array each.

The error state has 16 numbers, truth against estimate. The first 15 are position p_n (m), velocity v_n (m/s) and small
rotation phi_n (rad, R_true = exp(phi_n) R), then gyroscope bias (rad/s, frame s) and accelerometer bias (m/s2, frame
s). The last is the part of the magnetic azimuth (rad, clockwise) that is not the Earth's. Eight parameters are
considered and not estimated (Schmidt 1966). Their variance acts on the others, and no measurement changes them. One
parameter is the odometer's scale. Three are the excess of the gyroscope for each radian of turn about the vertical, a
vector fixed in s: its scale and its cross-coupling. Three are the excess of the accelerometer for each m/s2 along body
x, expressed in b: its scale and its cross-coupling. The last is the share of the body's pitch that is slope of the
floor.
"""

# error state
N = 16
P_N, V_N, PHI_N, GYR_BIAS, ACC_BIAS, MAG_BIAS = 0, 3, 6, 9, 12, 15
CONSIDERED = 8
ODOMETER_SCALE, GYR_EXCESS, ACC_EXCESS, FLOOR_SLOPE = 0, 1, 4, 7
COLUMNS = N + CONSIDERED  # the covariance: (N, COLUMNS), its last columns are with the considered parameters

# state x
Q = 0  # q_ns, then p_n, v_n, biases
POSITION = 4
VELOCITY = 7
BIAS_G = 10
BIAS_A = 13
BIAS_M = 16
STARTED = 17  # 0 until the first sample; below 0: the filter aligns itself
LAST_GYR = 18  # the reading before, frame s
LAST_ACC = 21
STILL = 24  # 1: the zero angular rate was taken at the sample before
REFUSED_S = 25  # how much time of stops was rejected since the last that was taken
ODOMETER_M, TRAVEL_M, ODOMETER_S = 26, 27, 28  # wheel, own prediction and time since the last use of the wheel
USED, REJECTED = 29, 30  # bits of the measurements of the last step
NIS = 31  # innovation squared over its variance, one for each kind below; valid where USED or REJECTED has its bit
DX = 41  # scratch of a step: correction
H = 57  # scratch of a step: a measurement's row
WORK = 73  # scratch of a step: P h of a measurement, COLUMNS numbers
SINCE_STOP_S = 97  # since a stop was last taken
STEP_S = 98  # the usual step: a lost sample makes one longer
CLIMB_M = 99  # how high a floor that follows the body's pitch has climbed since the start
TURNED_RAD = 100  # since the last use of the wheel
SKIP = 101  # samples still to be passed over: those of the rest on which the filter was aligned
MEANS = 102  # 1: readings are means over the step before, not values at the time stamp
FIELD, DIP = 103, 104  # of the magnetic field at the start (uT, rad down); 0 and UNKNOWN_DIP: not known
UNKNOWN_DIP = 10.0
FLOOR_M = 105  # height of the floor
REST = 106  # sums over the rest at the start, while the filter aligns itself (navigation/self_alignment.py)
# velocities of the last seconds, for fixes that come late: time since the first sample, how many are kept (below 0: no
# late fix was seen yet), place of the newest, time since another measurement of position or velocity than a late
# velocity, and with which noise of the accelerometer; then the rows, time and velocity
PAST_NOW_S, PAST_COUNT, PAST_NEWEST, PAST_FREE_S, PAST_ACC_Q, PAST = 136, 137, 138, 139, 140, 144
PAST_ROWS, PAST_WIDTH = 32, 4
# the stop that lasts: its time; the gyroscope's bias and its variance before it; the integral of the rate since; of the
# zero rates used so far their information and the sum that they were weighed by; time since the last one; 1: it turns
IN_STOP_S = PAST + PAST_ROWS * PAST_WIDTH
STOP_BIAS, STOP_VAR, STOP_TURN, STOP_INFO, STOP_SUM = (IN_STOP_S + 1 + 3 * k for k in range(5))
BLOCK_S, TURNS = IN_STOP_S + 16, IN_STOP_S + 17
# variance of one reading (rad/s, m/s2) as the machine shakes now; the readings before the last; how many in a row
SHAKE_G, SHAKE_A, BEFORE_GYR, BEFORE_ACC, IN_A_ROW = (IN_STOP_S + k for k in (18, 19, 20, 23, 26))
WIDER = IN_STOP_S + 27 - 3  # at + kind (floor is 3): NIS within the last seconds of floor, sideways and upward
ROUGH = IN_STOP_S + 30  # how many times larger the accelerometer's variance is, as the wheels show
STOP_DT2 = IN_STOP_S + 31  # sum of the squared steps of the stop: a reading after lost ones stands for longer
# variance of the gyroscope's bias before the first stop (0: there was none yet); what the last stop turned by beyond it
FIRST_VAR, LAST_TURN = IN_STOP_S + 32, IN_STOP_S + 35
TILTED_S = IN_STOP_S + 38  # how long it was on a slope
LEVEL = IN_STOP_S + 39  # how far body x usually points up: the mounting, or a slope of the floor
SLOPES = IN_STOP_S + 47  # the part of it that is not an error of the sensor's tilt
PITCHED_M = IN_STOP_S + 40  # how high it has climbed by its pitch against the usual one
# variance of the part by which wheels read too far in a turn, as they show it; by how much they would in this window
SLIPPERY, SLIPPED = IN_STOP_S + 41, IN_STOP_S + 42
# up in s at the last stop, and how far (square of the difference) it was from there since
STOP_UP, TILTED2 = IN_STOP_S + 43, IN_STOP_S + 46
CALM_GYR, CALM_ACC = IN_STOP_S + 48, IN_STOP_S + 51  # means of the readings of the stop
ROLLED_M = IN_STOP_S + 54  # since the height of the floor was last used
CLIMBED_M = IN_STOP_S + 55  # how high it has climbed while its pitch showed a slope
# of the way driven: its length, and the integral of the squared pitch against that of the start
WAY_M, PITCHED2_M = IN_STOP_S + 56, IN_STOP_S + 57
COVARIANCE = IN_STOP_S + 64  # a multiple of 8: its rows begin at cache lines
X_SIZE = COVARIANCE + N * COLUMNS

# kinds of measurement: place of the NIS; its bit is 1 << kind
ZUPT, ZARU, HEADING, FLOOR, SIDEWAYS, UPWARD, ODOMETER, FIX, HEIGHT, VELOCITY_FIX = range(10)
KINDS = ("stop", "still", "heading", "floor", "sideways", "upward", "odometer", "fix", "height", "velocity")
GAP, INSISTED = 10, 11  # further bits of USED

# what a row brings, besides gyroscope and accelerometer
SEEN_STOP, SEEN_MAG, SEEN_ODOMETER, SEEN_FIX, SEEN_HEIGHT, SEEN_VELOCITY = 1, 2, 4, 8, 16, 32
# of a row: wheel travel (m); height (m) and its sigma; of position and velocity fixes the value (m, m/s), its sigma and
# its age (s)
X_TRAVEL, X_HEIGHT, X_HEIGHT_SIGMA, X_FIX, X_VELOCITY = 0, 1, 2, 3, 10
SIGMA_OF_FIX, AGE_OF_FIX = 3, 6  # places within a fix
EXTRA = 17

# settings s
S_GRAVITY = 0
S_GYR_Q, S_ACC_Q = 1, 2  # white noise, (rad/s)2 s and (m/s2)2 s
S_GYR_BIAS_Q, S_ACC_BIAS_Q = 3, 4  # how fast biases wander
S_GYR_BIAS_CAP, S_ACC_BIAS_CAP = 5, 6  # variance at which they stay
S_GAP_S, S_GAP_ACC_Q, S_GAP_RATE_Q, S_GAP_TILT = 7, 8, 9, 10
S_GATE_1, S_GATE_3 = 11, 12  # largest NIS of one number and of three
S_ZUPT_R, S_INSIST_S = 13, 14  # a variance below 0: this measurement is not used
S_ZARU_R, S_STILL_Q = 15, 16
S_FLOOR_V_R, S_FLOOR_P_R, S_FLOOR_TILT = 17, 18, 19
S_SIDE_R, S_UP_R = 20, 21
S_ODO_R, S_ODO_WINDOW_S, S_ODO_SCALE = 22, 23, 24
S_MAG_R, S_MAG_VAR, S_MAG_RATE, S_MAG_PER_M = 25, 26, 27, 28
S_DECLINATION, S_FIELD, S_FIELD_TOL, S_DIP, S_DIP_TOL = 29, 30, 31, 32, 33  # 0 and UNKNOWN_DIP: the start's
S_ODO_SCALE_VAR, S_GYR_EXCESS_VAR = 34, 35  # of the considered parameters
S_R_SB = 36  # body axes expressed in s: columns of R_sb, nine numbers row by row
S_R_BS_B = 45  # lever arm of the sensor, frame b
S_GYR_READ, S_ACC_READ = 48, 49  # of one reading: rounding to counts, (rad/s)2 and (m/s2)2
S_ACC_SCALE_VAR, S_ACC_AXES_VAR, S_FLOOR_SLOPE_VAR = 50, 51, 52  # of the considered parameters
S_LEVER_VAR = 53  # of each number of the lever arm, m2
S_PAST_STEP_S = 54  # between two velocities that are kept
S_LINEAR_3 = 55  # largest NIS of three numbers at which the estimate is near enough to the truth to be linear there
S_TURN_3, S_TURN_SHARE = 56, 57  # NIS at which a stop turns; variance of an unseen turn as a part of the bias's
S_ADAPTS = 58  # 1: process noise follows the machine
S_HUBER_2 = 59  # NIS beyond which a row of wheels or floor has less weight
S_SLIP_VAR = 60  # of the part by which wheels read too far in a turn
S_ZUPT_ARM2 = 61  # m2, of the sensor from the point that a stop is of
S_FLOOR_LENGTH = 62  # m, over which a floor is uneven; 0: heights of all stops are independent
S_FLOOR_MOUNTING_VAR = 63  # rad2, of the turn of the sensor's axes against the wheels
S_SIZE = 64

# the tape of a step, for the backward pass: the prediction's Phi, then the scalar measurements
T_H, T_F, T_R, T_TURN, T_RHO, T_COUNT = 0, 1, 4, 13, 14, 21
T_MOVED = 22  # by how much the step corrected position and velocity
T_UPDATES = 28
T_ROOM = 2 * N + 2  # h, K, S, e
T_MOST = 15
T_SIZE = T_UPDATES + T_MOST * T_ROOM
