"""Foxglove: a websocket that its app connects to, with messages of ROS 2, and the same recorded as MCAP."""

from pathlib import Path
from typing import Any

import numpy as np

from strapdown.arrays import Array
from strapdown.bridges.viewer import Pose, Readings, sdk
from strapdown.errors import InputError
from strapdown.io.atomic import writable_target
from strapdown.io.formats.library import library
from strapdown.io.formats.ros.layouts import FIELD, IMU, ODOMETRY, POINT, QUATERNION, TEMPERATURE
from strapdown.io.formats.ros.messages import Channel, encoded
from strapdown.rotation import q_conj, q_rotate

PORT = 8765  # what the app proposes
_WORLD = "map"


class FoxgloveViewer:
    """port: of the websocket on this machine, 0 for any that is free; None for no websocket. record: an MCAP file.
    t0_ns: what the clock of the viewer reads at t = 0."""

    def __init__(self, port: int | None = PORT, record: Path | None = None, t0_ns: int = 0) -> None:
        foxglove = sdk("foxglove", "Foxglove")
        typesys = library("rosbags.typesys", Path("the bridge"), "made of ROS messages")
        self._schemas = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
        self._foxglove, self._t0_ns = foxglove, t0_ns
        self._context = foxglove.Context()
        self._channels: dict[str, Any] = {}
        self._writer = self._server = None
        if record is not None:
            writable_target(record)
            if record.exists():
                raise InputError(f"{record} exists already; choose another name for what is recorded")
            options = foxglove.mcap.MCAPWriteOptions(profile="ros2")
            self._writer = foxglove.open_mcap(str(record), context=self._context, writer_options=options)
        if port is not None:
            try:
                self._server = foxglove.start_server(name="strapdown", port=port, context=self._context)
            except Exception as error:
                self.close()
                if record is not None:
                    record.unlink(missing_ok=True)
                raise InputError(f"port {port} cannot be used for the websocket ({error}); choose another") from None

    @property
    def address(self) -> str | None:
        """To be opened in the app."""
        return None if self._server is None else f"ws://127.0.0.1:{self._server.port}"

    def show(self, update: Readings | Pose) -> None:
        if isinstance(update, Readings):
            self._readings(update)
        else:
            self._pose(update)

    def _readings(self, update: Readings) -> None:
        row = np.zeros(37)
        row[4] = -1.0  # no orientation
        for values, at, covariance in ((update.gyr_s, 13, 16), (update.acc_s, 25, 28)):
            if values is None:
                row[covariance] = -1.0  # no such reading
            else:
                row[at : at + 3] = values
        self._log(f"/{update.sensor}", IMU, (update.sensor,), update.t_s, row)
        if update.mag_s is not None:
            field = np.concatenate([1e-6 * update.mag_s, np.zeros(9)])
            self._log(f"/{update.sensor}/mag", FIELD, (update.sensor,), update.t_s, field)
        if update.temperature is not None:
            row = np.array([update.temperature, 0.0])
            self._log(f"/{update.sensor}/temperature", TEMPERATURE, (update.sensor,), update.t_s, row)

    def _pose(self, update: Pose) -> None:
        if update.q_nb is None:
            self._log(f"/{update.name}", POINT, (_WORLD,), update.t_s, np.asarray(update.p_n, dtype=np.float64))
            return
        q_xyzw = np.asarray(update.q_nb, dtype=np.float64)[[1, 2, 3, 0]]
        if update.p_n is None:
            self._log(f"/{update.name}", QUATERNION, (_WORLD,), update.t_s, q_xyzw)
            return
        row = np.zeros(85)
        row[:3], row[3:7] = update.p_n, q_xyzw
        if update.v_n is not None:
            row[43:46] = q_rotate(q_conj(update.q_nb), update.v_n)
        self._log(f"/{update.name}", ODOMETRY, (_WORLD, update.name), update.t_s, row)

    def _log(self, topic: str, kind: str, names: tuple[str, ...], t_s: float, row: Array) -> None:
        if topic not in self._channels:
            text = self._schemas.generate_msgdef(kind, ros_version=2)[0].encode()
            schema = self._foxglove.Schema(name=kind, encoding="ros2msg", data=text)
            self._channels[topic] = self._foxglove.Channel(
                topic, schema=schema, message_encoding="cdr", context=self._context
            )
        stamp = self._t0_ns + round(t_s * 1e9)
        message = next(encoded(Channel(topic, kind, names, np.array([stamp]), row[None]), cdr=True))
        self._channels[topic].log(message, log_time=stamp)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._server is not None:
            self._server.stop()
        self._writer = self._server = None
