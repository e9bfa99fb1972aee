"""A small quadcopter for tests of diagrams: a rigid body with the rotor formulas, and a loop that feeds a diagram.

No copy of the vehicle model of the package: plain Python, so that a diagram can be tried without an engine.
"""

import math

import numpy as np

from strapdown.rotation import q_exp, q_mul, q_rotate

G = 9.81
MASS, INERTIA, ARM, KT, MOMENT = 0.716, np.array([0.007, 0.007, 0.012]), 0.17, 8.54858e-6, 0.016
UP_S, DOWN_S, FASTEST, DRAG = 0.0125, 0.025, 838.0, 8.06428e-5
HUBS = np.array([[ARM, 0, 0], [0, ARM, 0], [-ARM, 0, 0], [0, -ARM, 0]])
SPINS = np.array([-1.0, 1.0, -1.0, 1.0])
FIELD_N = np.array([0.0, 16.0, -50.0])
HOVER = math.sqrt(MASS * G / (4 * KT))


class Quadcopter:
    """State of the body, advanced with forces held over a step."""

    def __init__(self, yaw=0.5 * math.pi, wind_n=(0.0, 0.0, 0.0)):
        self.p, self.v, self.w = np.zeros(3), np.zeros(3), np.zeros(3)
        self.q = q_exp([0.0, 0.0, yaw])
        self.speeds, self.command = np.zeros(4), np.zeros(4)
        self.wind = np.asarray(wind_n, dtype=float)
        self.f = np.array([0.0, 0.0, G])

    def step(self, dt):
        wanted = np.clip(self.command, 0.0, FASTEST)
        lag = np.where(wanted > self.speeds, UP_S, DOWN_S)
        self.speeds = wanted + (self.speeds - wanted) * np.exp(-dt / lag)
        thrust = KT * self.speeds**2
        air_b = q_rotate(self.q * [1, -1, -1, -1], self.v - self.wind)
        drag = -DRAG * self.speeds.sum() * np.array([air_b[0], air_b[1], 0.0])
        force = np.array([0.0, 0.0, thrust.sum()]) + drag
        torque = np.array([HUBS[:, 1] @ thrust, -HUBS[:, 0] @ thrust, -(SPINS * MOMENT) @ thrust]) - np.cross(
            self.w, INERTIA * self.w
        )
        a = q_rotate(self.q, force) / MASS - [0, 0, G]
        if self.p[2] <= 0.0 and a[2] <= 0.0:  # stands on the ground
            self.p[2], self.v, self.w, a, torque = 0.0, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
            self.f = q_rotate(self.q * [1, -1, -1, -1], np.array([0, 0, G]))
        else:
            self.f = force / MASS
        self.w = self.w + torque / INERTIA * dt
        self.q = q_mul(self.q, q_exp(self.w * dt))
        self.q /= np.linalg.norm(self.q)
        self.v = self.v + a * dt
        self.p = self.p + self.v * dt

    def euler(self):
        w, x, y, z = self.q
        return np.array([math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(2 * (w * y - x * z))])


class Loop:
    """A diagram that flies the quadcopter. The feeds are those of the contract of the session."""

    def __init__(self, run, *, seed=1, noise=1.0, bias=True, yaw=0.5 * math.pi, wind_n=(0.0, 0.0, 0.0), vibration=1.0):
        self.run, self.body, self.rng = run, Quadcopter(yaw, wind_n), np.random.default_rng(seed)
        self.noise, self.vibration = noise, vibration
        offsets = np.random.default_rng(seed + 1000).normal(size=6) if bias else np.zeros(6)
        self.gyr_bias, self.acc_bias = np.radians(3.0) * offsets[:3], 0.4 * offsets[3:]
        self.paths = {}
        for step in run.plan.steps:
            self.paths.setdefault(step.kind, step.path)
        self.base_hz = run.plan.base_hz
        self.tick = 0
        self.fixes = []
        self.errors, self.track = [], []

    def feed(self, kind, **values):
        if kind in self.paths:
            for name, value in values.items():
                self.run.feed(f"{self.paths[kind]}.{name}", value)

    def console(self, **values):
        self.feed("console", **values)

    def _every(self, kind):
        return self.run.plan.steps[self.run._index[self.paths[kind]]].every if kind in self.paths else 10**9

    def _sense(self):
        body, rng, t = self.body, self.rng, self.tick / self.base_hz
        if self.tick % self._every("gyroscope") == 0:
            shake = self.vibration * (body.speeds.sum() / (4 * HOVER)) ** 2 * np.sin(2 * math.pi * 72.0 * t)
            gyr = body.w + self.gyr_bias + self.noise * np.radians(0.05) * rng.normal(size=3)
            acc = body.f + self.acc_bias + self.noise * 0.05 * rng.normal(size=3)
            gyr = gyr + np.radians(4.0) * math.sqrt(2) * shake * np.array([1.0, 0.7, 0.1])
            acc = acc + 4.5 * shake * np.array([1.0, -0.8, 0.3])
            self.feed("gyroscope", value=gyr, new=1.0)
            self.feed("accelerometer", value=acc, new=1.0)
        if self.tick % self._every("magnetometer") == 0:
            new = self.tick % 10 == 0
            if new:
                field = q_rotate(body.q * [1, -1, -1, -1], FIELD_N) + self.noise * 0.3 * rng.normal(size=3)
                self.feed("magnetometer", value=field)
            self.feed("magnetometer", new=float(new))
        if self.tick % self._every("altimeter") == 0:
            new = self.tick % 20 == 0
            if new:
                up = 1 - 2 * (body.q[1] ** 2 + body.q[2] ** 2)
                self.feed("altimeter", value=float(body.p[2] / up + self.noise * 0.02 * rng.normal()))
            self.feed("altimeter", new=float(new))
        if self.tick % 100 == 0:
            self.fixes.append((t, body.v + self.noise * 0.05 * rng.normal(size=3)))
        if self.tick % self._every("velocity_fix") == 0:
            new = len(self.fixes) > 0 and self.fixes[0][0] <= t - 0.1 + 1e-9
            if new:
                at, value = self.fixes.pop(0)
                self.feed("velocity_fix", value=value, sigma=np.full(3, 0.05), at=at)
            self.feed("velocity_fix", new=float(new))
        self.feed("time", t=t)

    def advance(self, seconds, watch=False):
        for _ in range(round(seconds * self.base_hz)):
            self._sense()
            self.feed("truth", attitude=self.body.q, rate=self.body.w, velocity=self.body.v, position=self.body.p)
            self.run.tick()
            self.body.command = self.run.value("motors.command")
            if watch and self.tick % 20 == 0:
                self.errors.append(self.tilt_error())
                self.track.append((*self.body.p, *self.body.v))
            self.body.step(1.0 / self.base_hz)
            self.tick += 1

    def tilt_error(self):
        q = self.run.value(self.attitude)
        est = np.array(
            [
                math.atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] ** 2 + q[2] ** 2)),
                math.asin(np.clip(2 * (q[0] * q[2] - q[1] * q[3]), -1, 1)),
            ]
        )
        return est - self.body.euler()

    attitude = "stabilisation/attitude.attitude"

    def prepare(self, calibrate=True):
        """Power, calibration of 3 s, arm."""
        self.console(power=1.0)
        self.advance(0.2)
        if calibrate:
            self.console(calibrate=1.0)
            self.advance(3.0)
            self.console(calibrate=0.0)
            self.advance(0.2)
        self.console(arm=1.0, mode=2.0)

    def rms_deg(self):
        """Roll and pitch error, the larger of the two."""
        return float(np.degrees(np.sqrt(np.mean(np.square(self.errors), axis=0)).max()))
