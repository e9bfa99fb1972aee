"""Calibration by positions (paper C, section "calibration before the tests") on virtual specimens.

Every number that a fit reports is compared with the truth of 100 virtual specimens of an MPU-6050, in units of the
reported sigma. The calibrated accelerometer is read in attitudes that the fit has not used.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from strapdown.calibration.poses.positions import PositionsFit, calibrate_positions
from strapdown.motion.paths.poses import Poses
from strapdown.papers.chance import normal_claims, rms_limit, seeds_of
from strapdown.papers.claim import Claim
from strapdown.sensors.chain.error_chain import measure
from strapdown.sensors.parts.part import load_part
from strapdown.sensors.streams import seed_of
from strapdown.sensors.triad import ZERO, Triad
from strapdown.types import Array, Recording

G = 9.81
RATE_HZ = 100.0
POSES, HOLD_S, TURN_S = 24, 4.0, 2.5
LEVEL_DEG = 0.05  # 0.9 mm per m
NEW_ATTITUDES = 200
_SEED = 20260303
_MG = 9.80665e-3
_OURS = "ours"


@dataclass(frozen=True, eq=False)
class Truth:
    """The true result for the fit of a specimen, in the frame that its gauge chooses.

    rotation: R into that frame.
    """

    matrix: Array
    bias: Array
    cubic: Array
    rotation: Array
    gyr_matrix: Array
    gyr_bias: Array
    gyr_cubic: Array
    g_sensitivity: Array


def truth_of(acc: Triad, gyr: Triad, gravity: float = G) -> Truth:
    """Derived from the error chain by algebra.

    The chain reads r = b + T (x + a (3u - 4u^3)), u = x / range, a = part range. The linear part 3a/range acts as
    a scale, r = b + T (p x - k x^3) with p = 1 + 3 part and k = 4 part / range^2. So with w = T^-1 (r - b) / p

        x = w + c w^3 + 3 c^2 w^5 + ...,  c = k / p.

    Over evenly spread attitudes w is spread evenly over +-g. There w^5 is nearest to 10/9 g^2 w^3 - 5/21 g^4 w
    (Legendre), which a model without w^5 finds. |f| = g does not show a rotation R of all axes. So the matrix found is
    the symmetric one of the polar decomposition, R A = S, and the gyroscope's is expressed in its frame.
    """
    part, top = np.array(acc.nonlinearity), acc.full_scale or 1.0
    cubic = 4.0 * part / top**2 / (1.0 + 3.0 * part)
    fifth = 3.0 * cubic**2
    scale = 1.0 - 5.0 / 21.0 * fifth * gravity**4
    linear = (scale / (1.0 + 3.0 * part))[:, None] * np.linalg.inv(np.array(acc.matrix))
    _, sizes, vt = np.linalg.svd(linear)
    symmetric = vt.T @ np.diag(sizes) @ vt
    rotation = symmetric @ np.linalg.inv(linear)
    gyr_part, gyr_top = np.array(gyr.nonlinearity), gyr.full_scale or 1.0
    return Truth(
        symmetric,
        np.array(acc.bias),
        (cubic + 10.0 / 9.0 * fifth * gravity**2) / scale**3,
        rotation,
        rotation @ np.diag(1.0 / (1.0 + 3.0 * gyr_part)) @ np.linalg.inv(np.array(gyr.matrix)),
        np.array(gyr.bias),
        4.0 * gyr_part / gyr_top**2 / (1.0 + 3.0 * gyr_part),
        np.array(gyr.g_sensitivity) @ rotation.T,
    )


def hand_held(poses: int = POSES) -> Poses:
    """Free poses all over the sphere in a random order, so that the turns between them go about all axes."""
    spread = Poses.spread(poses, tilt_deg=10.0, seed=_SEED)
    order = np.random.default_rng(_SEED).permutation(poses)
    return Poses(np.array(spread.q_nb)[order], hold_s=HOLD_S, turn_s=TURN_S)


@dataclass(frozen=True, eq=False)
class Ideal:
    """Readings of ideal instruments along a motion: the same for all specimens."""

    t: Array
    f_s: Array
    w_s: Array

    @classmethod
    def of(cls, motion: Poses, rate_hz: float = RATE_HZ) -> "Ideal":
        t = np.arange(int(motion.duration_s * rate_hz) + 1) / rate_hz
        truth = motion.at(t[t <= motion.duration_s])
        return cls(truth.t, truth.specific_force_b(G), truth.w_nb_b)

    def log(self, triads: dict[str, Triad], seed: int) -> Recording:
        """The log of a specimen at 25 degC."""
        read: dict[str, Array | None] = {"accelerometer": None, "gyroscope": None}
        for name, triad in triads.items():
            ideal, force = (self.w_s, self.f_s) if name == "gyroscope" else (self.f_s, None)
            source = seed_of(_SEED, seed, name)
            read[name] = measure(triad, self.t, ideal, stream=source, specific_force=force).values
        warm = np.full(len(self.t), 25.0)
        return Recording(self.t, acc_s=read["accelerometer"], gyr_s=read["gyroscope"], temperature=warm)


def normalised(fit: PositionsFit, truth: Truth) -> dict[str, Array]:
    """Errors over reported standard deviations, by instrument and parameter, without assumed parameters.

    That of a bias is the one of its mean over the session: these specimens drift no further than their noise.
    """
    acc, gyr = fit.calibration.corrections["accelerometer"], fit.calibration.corrections["gyroscope"]
    assert fit.turns is not None
    upper = np.triu_indices(3)
    out = {
        "accelerometer/bias": (acc.bias - truth.bias) / fit.accelerometer.sigma["bias"],
        "accelerometer/matrix": ((acc.matrix - truth.matrix) / acc.sigma["matrix"])[upper],
        "accelerometer/cubic": (acc.cubic - truth.cubic) / acc.sigma["cubic"],
        "gyroscope/bias": (gyr.bias - truth.gyr_bias) / fit.turns.sigma["bias"],
        "gyroscope/matrix": ((gyr.matrix - truth.gyr_matrix) / gyr.sigma["matrix"]).reshape(-1),
    }
    if "g_sensitivity" in gyr.sigma:
        errors = (gyr.g_sensitivity - truth.g_sensitivity) / gyr.sigma["g_sensitivity"]
        out["gyroscope/g_sensitivity"] = np.diag(errors)
    if "cubic" in gyr.sigma:
        out["gyroscope/cubic"] = (gyr.cubic - truth.gyr_cubic) / gyr.sigma["cubic"]
    return out


def squared_normalised(fit: PositionsFit, acc: Triad) -> dict[str, Array]:
    """The same for six faces: with x = +-g only, x - k x^3 acts as the scale p - k g^2, and nothing is turned."""
    part, top = np.array(acc.nonlinearity), acc.full_scale or 1.0
    straight = 1.0 + 3.0 * part - 4.0 * part / top**2 * G**2
    found = fit.calibration.corrections["accelerometer"]
    matrix = np.linalg.inv(np.array(acc.matrix) * straight)
    return {
        "six-faces/bias": (found.bias - np.array(acc.bias)) / found.sigma["bias"],
        "six-faces/matrix": ((found.matrix - matrix) / found.sigma["matrix"]).reshape(-1),
    }


def noiseless(triad: Triad) -> Triad:
    """The same specimen without noise and drift: the remaining error is that of its calibration."""
    return replace(triad, white=ZERO, instability=ZERO, walk=ZERO, quantisation=ZERO, resolution=0.0, bandwidth_hz=None)


def new_attitude_errors(fit: PositionsFit, acc: Triad, rotation: Array) -> Array:
    """Corrected minus true specific force in random attitudes, m/s2, in the frame of the fit."""
    ups = np.random.default_rng(_SEED + 1).standard_normal((NEW_ATTITUDES, 3))
    f = G * ups / np.linalg.norm(ups, axis=1, keepdims=True)
    t = np.arange(NEW_ATTITUDES) / RATE_HZ
    readings = measure(noiseless(acc), t, f, stream=seed_of(_SEED, "new")).values
    return np.asarray(fit.calibration.corrections["accelerometer"].corrected(readings) - f @ rotation.T)


def claims(done: Callable[[float], None], runs: int = 100, repeat: int = 0) -> list[Claim]:
    """Virtual MPU-6050s, one for each seed, with all their error terms as drawn, at 25 degC."""
    part, ideal = load_part("mpu6050"), Ideal.of(hand_held())
    errors: dict[str, list[Array]] = {}
    new: dict[str, list[Array]] = {"free poses, 2 g": [], "squared, 4 g": [], "squared, 2 g": []}
    for k, seed in enumerate(seeds_of(0, runs, repeat)):
        triads = part.draw(seed).triads()
        truth = truth_of(triads["accelerometer"], triads["gyroscope"])
        fit = calibrate_positions(ideal.log(triads, seed), G, model="cubic", noise=triads)
        for name, value in normalised(fit, truth).items():
            errors.setdefault(name, []).append(value)
        new["free poses, 2 g"].append(new_attitude_errors(fit, triads["accelerometer"], truth.rotation))
        six = Ideal.of(Poses.six(tilt_deg=LEVEL_DEG, seed=seed, hold_s=HOLD_S, turn_s=TURN_S))
        for top in (2.0, 4.0):
            acc = part.draw(seed, range={"accelerometer": top}).triads()["accelerometer"]
            one = {"accelerometer": acc}
            level = float(np.radians(LEVEL_DEG))
            squared = calibrate_positions(six.log(one, seed), G, model="squared", noise=one, level_sigma_rad=level)
            new[f"squared, {top:g} g"].append(new_attitude_errors(squared, acc, np.eye(3)))
            if top == 4.0:
                for name, value in squared_normalised(squared, acc).items():
                    errors.setdefault(name, []).append(value)
        done((k + 1) / runs)
    return _normal_claims(errors, runs) + _new_attitude_claims(new, runs)


def _normal_claims(errors: dict[str, list[Array]], runs: int) -> list[Claim]:
    held = f"of {HOLD_S:g} s at {RATE_HZ:g} Hz, 25 degC, all error terms"
    free = f"{runs} virtual MPU-6050, {POSES} free poses {held}"
    six = f"{runs} virtual MPU-6050 at 4 g, six faces level to {LEVEL_DEG:g} deg, {held}"
    out: list[Claim] = []
    for name, rows in errors.items():
        how = six if name.startswith("six") else free
        what = f"{name.replace('/', ' ')}, error over reported sigma ({how}; {len(rows)} runs found it)"
        if len(rows) > 1:  # one run has no sigma
            out += normal_claims(f"C/calibration/positions/{name}", what, rows, _OURS)
    return out


def _new_attitude_claims(new: dict[str, list[Array]], runs: int) -> list[Claim]:
    squares = {name: np.mean((np.array(rows) / _MG) ** 2, axis=(1, 2)) for name, rows in new.items()}
    rms = {name: float(np.sqrt(each.mean())) for name, each in squares.items()}
    what = f"rms per axis in {NEW_ATTITUDES} new attitudes without noise, mg ({runs} virtual MPU-6050, 25 degC"
    box = f"six positions on a table and with a case true to {LEVEL_DEG:g} deg, {HOLD_S:g} s each"
    return [
        Claim(
            "C/calibration/positions/accelerometer/new-attitudes/free-2g",
            f"{what}, 2 g range; {POSES} free poses, model cubic)",
            None,
            rms["free poses, 2 g"],
            rms_limit(1.0, squares["free poses, 2 g"]),
            _OURS,
            kind="requirement",
        ),
        Claim(
            "C/calibration/positions/accelerometer/new-attitudes/six-4g",
            f"{what}, 4 g range; {box}, model squared)",
            None,
            rms["squared, 4 g"],
            rms_limit(1.0, squares["squared, 4 g"]),
            _OURS,
            kind="requirement",
        ),
        # 4 a u^3 sqrt(1/3 - 2/5 + 1/7), a = 0.5 % of 2 g, u = 1/2: 1.38 mg; tilts of 0.05 deg add 0.5 mg
        Claim(
            "C/calibration/positions/accelerometer/new-attitudes/six-2g",
            f"{what}, 2 g range; {box}, model squared; the part's nonlinearity of 0.5 % of its range leaves 1.38 mg "
            "between the faces whatever one does, tilts 0.5 mg more)",
            None,
            rms["squared, 2 g"],
            rms_limit(1.6, squares["squared, 2 g"]),
            _OURS,
            kind="requirement",
        ),
    ]
