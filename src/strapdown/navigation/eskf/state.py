"""The state of the error-state filter, as seen from outside."""

from strapdown.kernels.navigation.eskf import layout as at
from strapdown.rotation import q_conj, q_mul
from strapdown.types import Array


class State:
    """The state of the filter after a sample: a value, which a step does not change."""

    __slots__ = ("numbers", "q_bs", "settings")

    def __init__(self, numbers: Array, settings: Array, q_bs: Array) -> None:
        self.numbers, self.settings, self.q_bs = numbers, settings, q_bs

    @property
    def q_nb(self) -> Array:
        return q_mul(self.numbers[at.Q : at.Q + 4], q_conj(self.q_bs))

    @property
    def p_n(self) -> Array:
        return self.numbers[at.POSITION : at.POSITION + 3].copy()

    @property
    def v_n(self) -> Array:
        return self.numbers[at.VELOCITY : at.VELOCITY + 3].copy()

    @property
    def gyr_bias_s(self) -> Array:
        return self.numbers[at.BIAS_G : at.BIAS_G + 3].copy()

    @property
    def acc_bias_s(self) -> Array:
        return self.numbers[at.BIAS_A : at.BIAS_A + 3].copy()

    @property
    def covariance(self) -> Array:
        """(16, 16): p_n, v_n, phi_n, gyroscope bias, accelerometer bias, magnetic disturbance; SI, rad."""
        return self.numbers[at.COVARIANCE :].reshape(at.N, at.COLUMNS)[:, : at.N].copy()

    @property
    def used(self) -> dict[str, float]:
        """Measurements of the last step and their normalised innovations squared."""
        return self._kinds(at.USED)

    @property
    def rejected(self) -> dict[str, float]:
        return self._kinds(at.REJECTED)

    def _kinds(self, where: int) -> dict[str, float]:
        bits = int(self.numbers[where])
        return {name: float(self.numbers[at.NIS + k]) for k, name in enumerate(at.KINDS) if bits >> k & 1}
