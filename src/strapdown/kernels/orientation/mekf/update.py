"""The covariance of the multiplicative Kalman filter, and its update by one measured number.

Error state x: the small rotation in n from the estimate to the truth (rad), then truth minus estimate of the bias
(rad/s, frame s). Expressed in n the rotation's own dynamics vanish: d(theta_n) = -R_ns (d(b) + noise) dt.
"""

from strapdown.kernels.jit import internal
from strapdown.kernels.orientation.start import AFTER_START

P = AFTER_START  # 6 x 6
X = P + 36  # what the sample has corrected so far
PH, K = X + 6, X + 12  # P H^T and gain of one measured number
# the angle of the field from north at the place of the sensor: its covariance with the errors, its variance and value
WITH_PLACE, PLACE_P, PLACE = X + 18, X + 24, X + 25
MEMORY = X + 26


@internal
def predict(state, w, x, y, z, white2, walk2, dt):
    """Predict over a step that ends at the attitude (w, x, y, z). white2 (rad2/s) is the noise of the rate, walk2
    (rad2/s3) that of the bias.
    """
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    # rows of theta minus A times the rows of the bias, A = R dt; then the same for columns
    for i in range(3):
        ax, ay, az = dt * rows[i][0], dt * rows[i][1], dt * rows[i][2]
        at = P + 6 * i
        for j in range(6):
            state[at + j] -= ax * state[P + 18 + j] + ay * state[P + 24 + j] + az * state[P + 30 + j]
    for j in range(3):
        ax, ay, az = dt * rows[j][0], dt * rows[j][1], dt * rows[j][2]
        for i in range(6):
            at = P + 6 * i
            state[at + j] -= ax * state[at + 3] + ay * state[at + 4] + az * state[at + 5]
    for i in range(3):
        ax, ay, az = dt * rows[i][0], dt * rows[i][1], dt * rows[i][2]
        state[WITH_PLACE + i] -= ax * state[WITH_PLACE + 3] + ay * state[WITH_PLACE + 4] + az * state[WITH_PLACE + 5]
        state[P + 7 * i] += white2 * dt
        state[P + 21 + 7 * i] += walk2 * dt
    for i in range(6):
        for j in range(i):
            state[P + 6 * i + j] = state[P + 6 * j + i]


@internal
def spread(state, hx, hy, hz):
    """Fill PH with P H^T for H = (hx, hy, hz, 0, 0, 0); returns H P H^T."""
    for i in range(6):
        at = P + 6 * i
        state[PH + i] = hx * state[at] + hy * state[at + 1] + hz * state[at + 2]
    return hx * state[PH] + hy * state[PH + 1] + hz * state[PH + 2]


@internal
def learn(state, hx, hy, hz, variance, innovation, first):
    """Update by one number, H x with this variance, in Joseph's form: right for any gain. Rows of the gain before
    `first`
    are zero: those states are not changed, but their share in the innovation's variance counts.
    """
    hph = spread(state, hx, hy, hz)
    weight = 1.0 / (hph + variance)
    left = innovation - hx * state[X] - hy * state[X + 1] - hz * state[X + 2]
    by_place = hx * state[WITH_PLACE] + hy * state[WITH_PLACE + 1] + hz * state[WITH_PLACE + 2]
    for i in range(6):
        gain = weight * state[PH + i] if i >= first else 0.0
        state[K + i] = gain
        state[X + i] += gain * left
        state[WITH_PLACE + i] -= gain * by_place
    _joseph(state, hph, variance)


@internal
def spread_of_north(state, hx, hy):
    """Fill PH for a measured north: the heading, with (hx, hy) of the inclination, and the angle of the place. Returns
    the variance of both together, and the covariance of the place with it.
    """
    hph = spread(state, hx, hy, 1.0)
    with_place = hx * state[WITH_PLACE] + hy * state[WITH_PLACE + 1] + state[WITH_PLACE + 2] + state[PLACE_P]
    for i in range(6):
        state[PH + i] += state[WITH_PLACE + i]
    return hph + 2.0 * with_place - state[PLACE_P], with_place


@internal
def learn_north(state, hx, hy, variance, innovation):
    """Update heading, bias and place by a measured north: the inclination is not changed."""
    all2, with_place = spread_of_north(state, hx, hy)
    weight = 1.0 / (all2 + variance)
    left = innovation - hx * state[X] - hy * state[X + 1] - state[X + 2] - state[PLACE]
    place_gain = weight * with_place
    for i in range(6):
        gain = weight * state[PH + i] if i >= 2 else 0.0
        state[K + i] = gain
        state[X + i] += gain * left
        state[WITH_PLACE + i] -= place_gain * state[PH + i]
    state[PLACE] += place_gain * left
    state[PLACE_P] -= place_gain * with_place
    _joseph(state, all2, variance)


@internal
def forget_place(state, variance):
    """The angle of the field from north is that of an unknown place."""
    for i in range(6):
        state[WITH_PLACE + i] = 0.0
    state[PLACE], state[PLACE_P] = 0.0, variance


@internal
def leave_place(state, part, variance):
    """The sensor moves: this part of the angle of the field from north stays, and it has this variance elsewhere."""
    for i in range(6):
        state[WITH_PLACE + i] *= part
    state[PLACE] *= part
    state[PLACE_P] = variance + part * part * (state[PLACE_P] - variance)


@internal
def _joseph(state, hph, variance):
    """The covariance after an update with the gain K, whose P H^T is PH."""
    for i in range(6):
        gain = state[K + i]
        rest = state[PH + i] - gain * hph  # row i of (I - K H) P H^T
        for j in range(i, 6):
            other = state[K + j]
            value = state[P + 6 * i + j] - gain * state[PH + j] - rest * other + variance * gain * other
            state[P + 6 * i + j] = value
            state[P + 6 * j + i] = value
