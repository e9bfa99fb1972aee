"""A vehicle flown by a diagram, without a session: the plant, simple sensors, and the feeds of the blocks.

The sensors have white noise, a constant bias and the vibration of the rotors; no error chain.
"""

import math

import numpy as np

from strapdown.engines.parts import Mount
from strapdown.environment.diagram import compile_diagram, read_diagram
from strapdown.live import PLANT_COLUMNS as COLUMNS
from strapdown.live import PLANT_ROW
from strapdown.rotation import euler_from_q, q_conj, q_rotate
from strapdown.vehicles.vehicle import read_vehicle

FIELD_N = np.array([0.0, 16.0, -50.0])  # uT
HOVER = 453.2  # rad/s
BASE_HZ = 1000.0
FIX_S, FIX_DELAY_S = 0.1, 0.1


def default_diagram(vehicle, name="diagram"):
    return read_diagram(read_vehicle(vehicle).robot.path.parent / f"{name}.toml")


def at_rate(diagram, rate_hz):
    """The diagram with another rate of its estimation."""
    blocks = [b.model_copy(update={"rate_hz": rate_hz}) if b.diagram and b.rate_hz else b for b in diagram.block]
    return diagram.model_copy(update={"block": blocks})


class Flight:
    """One run. Sensors are found by kind; what a diagram does not have is not fed."""

    def __init__(self, vehicle, diagram, *, seed=1, noise=1.0, vibration=1.0, gravity=9.81):
        self.run = compile_diagram(diagram)
        self.vehicle = read_vehicle(vehicle)
        self.plant = self.vehicle.plant(gravity=gravity)
        self.rng = np.random.default_rng(seed)
        self.noise, self.vibration = noise, vibration
        offsets = np.random.default_rng(seed + 1000).normal(size=6)
        self.gyr_bias, self.acc_bias = np.radians(3.0) * offsets[:3], 0.02 * gravity * offsets[3:]
        self.mounts, self.row = (Mount("imu", self.vehicle.body),), np.zeros((1, PLANT_ROW))
        self.slots, self.every = {}, {}
        for step in self.run.plan.steps:
            for name in getattr(step.block, "feeds", {}):
                self.slots[step.kind, name] = self.run.feed_slot(f"{step.path}.{name}")
                self.every[step.kind] = step.every
        (self.actuator,) = [s.path for s in self.run.plan.steps if getattr(s.block, "actuates", False)]
        filters = ("imu_block", "eskf")
        (self.filter,) = [s.path for s in self.run.plan.steps if s.kind in filters or s.kind.startswith("orientation")]
        self.fixes, self.outages, self.tick = [], [], 0
        self.since, self.last_v, self.gravity = [], None, gravity
        self.plant.advance_to(1.0)  # settles on its feet
        self.t0 = self.plant.time_s
        self.plant.read(self.mounts, self.row)
        self.ground = float(self.row[0, 2])
        self.watched = []

    def feed(self, kind, **values):
        for name, value in values.items():
            if (kind, name) in self.slots:
                self.run.feeds[self.slots[kind, name]] = value

    def console(self, **values):
        self.feed("console", **values)

    def due(self, kind):
        return kind in self.every and self.tick % self.every[kind] == 0

    def _sense(self, t):
        self.plant.read(self.mounts, self.row)
        p, q, v, w, f = (self.row[0, COLUMNS[name]].copy() for name in ("p_n", "q_ns", "v_n", "w_s", "f_s"))
        normal = self.rng.normal
        self.since.append((w, f))
        if self.due("gyroscope"):
            # means since the last reading, as the bandwidth of a sensor makes them: shocks of contacts are not missed
            w, f = np.mean(self.since, axis=0)
            self.since.clear()
            if self.vehicle.kind == "wheels" and self.last_v is not None:
                # the force of a stiff wheel servo changes within a physics step: take what has changed the velocity
                mean_a = (v - self.last_v) * BASE_HZ / self.every["gyroscope"]
                f = q_rotate(q_conj(q), mean_a + np.array([0.0, 0.0, self.gravity]))
            self.last_v = v
            shake = 0.0
            if self.vehicle.kind == "rotors":
                shake = self.vibration * (self.plant.speeds.mean() / HOVER) ** 2 * math.sin(2 * math.pi * 72.0 * t)
            gyr = w + self.gyr_bias + self.noise * np.radians(0.05) * normal(size=3)
            acc = f + self.acc_bias + self.noise * 0.05 * normal(size=3)
            self.feed("gyroscope", value=gyr + np.radians(5.6) * shake * np.array([1.0, 0.7, 0.1]), new=1.0)
            self.feed("accelerometer", value=acc + 4.5 * shake * np.array([1.0, -0.8, 0.3]), new=1.0)
        if self.due("magnetometer"):
            new = self.tick % 10 == 0
            if new:
                self.feed("magnetometer", value=q_rotate(q_conj(q), FIELD_N) + self.noise * 0.3 * normal(size=3))
            self.feed("magnetometer", new=float(new))
        if self.due("inclinometer"):
            up_b = q_rotate(q_conj(q), np.array([0.0, 0.0, 1.0]))
            self.feed("inclinometer", value=np.arcsin(up_b[:2]) + 1e-3 * normal(size=2), new=1.0)
        if self.due("altimeter"):
            new = self.tick % 20 == 0
            if new:
                upright = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)
                self.feed("altimeter", value=float(p[2] / upright + self.noise * 0.02 * normal()))
            self.feed("altimeter", new=float(new))
        if self.tick % round(FIX_S * BASE_HZ) == 0 and not any(a <= t < b for a, b in self.outages):
            self.fixes.append((t, v + self.noise * 0.05 * normal(size=3)))
        if self.due("velocity_fix"):
            new = bool(self.fixes) and self.fixes[0][0] <= t - FIX_DELAY_S + 1e-9
            if new:
                at, value = self.fixes.pop(0)
                self.feed("velocity_fix", value=value, sigma=np.full(3, 0.05), at=at)
            self.feed("velocity_fix", new=float(new))
        self.feed("time", t=t)

    def advance(self, seconds, watch=False):
        for _ in range(round(seconds * BASE_HZ)):
            self._sense(self.tick / BASE_HZ)
            self.run.tick()
            if watch and self.tick % 20 == 0:
                estimated = euler_from_q(self.run.value(f"{self.filter}.attitude"))
                true = euler_from_q(self.row[0, COLUMNS["q_ns"]])
                self.watched.append((*np.subtract(estimated, true)[:2], *self.row[0, :3], *self.row[0, 7:10]))
            self.plant.actuate(np.asarray(self.run.value(f"{self.actuator}.command")))
            self.tick += 1
            self.plant.advance_to(self.t0 + self.tick / BASE_HZ)

    def prepare(self, calibrate=True):
        """Power, calibration for 3 s, arm, mode hold."""
        self.console(power=1.0)
        self.advance(0.2)
        if calibrate:
            self.console(calibrate=1.0)
            self.advance(3.0)
            self.console(calibrate=0.0)
            self.advance(0.2)
        self.console(arm=1.0, mode=2.0)

    def take_off(self, seconds=3.0):
        self.console(throttle=1.0)
        self.advance(seconds)
        self.console(throttle=0.0)
        self.advance(2.0)

    def land(self, seconds=8.0):
        self.console(pitch=0.0, roll=0.0, throttle=-0.5)
        self.advance(seconds)

    def tilt_rms_deg(self):
        """Of roll and of pitch, the larger."""
        return float(np.degrees(np.sqrt(np.mean(np.square(np.array(self.watched)[:, :2]), axis=0)).max()))
