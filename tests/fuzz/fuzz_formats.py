"""Readers of the formats of others for the harness: small valid files, and files by a grammar."""

import io as streams
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import fuzz_mutations as make
import numpy as np
from fuzz_readers import Reader

import format_cases
from strapdown.errors import StrapdownError
from strapdown.io import read_all
from strapdown.io.formats.ros.write import write_mcap, write_ros1, write_ros2
from strapdown.sensors.parts.model_file import read_model

_TUM = "".join(f"{k}.5 {0.1 * k} 2 3 0 0 0 1\n" for k in range(9)).encode()
_KITTI = b"".join(b"1 0 0 %d 0 1 0 2 0 0 1 3\n" % k for k in range(9))
_EUROC = b"#timestamp [ns],w_RS_S_x [rad s^-1]\n" + b"".join(
    b"%d,-0.1,0.1,0.02,8.1,-0.4,-2.5\n" % (1403636579758555392 + k * 5000000) for k in range(9)
)
_NMEA = (
    b"$GPGGA,123519.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*69\r\n"
    b"$GPRMC,123519.00,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*44\r\n"
    b"$GPGGA,123520.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*63\r\n"
    b"$GPGST,123520.00,1.0,,,,0.7,0.8,1.1*4B\r\n"
    b"$GPGGA,123521.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*62\r\n"
)
_KALIBR = b"""accelerometer_noise_density: 1.86e-03
accelerometer_random_walk: 4.33e-04
gyroscope_noise_density: 1.87e-04
gyroscope_random_walk: 2.66e-05
rostopic: /imu0
update_rate: 200.0
"""
_GYRO = b"gyro_x (deg/s),gyro_y (deg/s),gyro_z (deg/s)\n" + b"1,2,3\n" * 4


def format_readers(folder: Path) -> dict[str, Reader]:
    """One for each format; every valid file is read once, so that all libraries are loaded."""
    log, track = format_cases.recording(40), format_cases.track(20)
    write_mcap(folder / "valid.mcap", {"imu": log}, {"filter": track})
    write_ros1(folder / "valid.bag", {"imu": log}, {"filter": track})
    shutil.rmtree(folder / "valid", ignore_errors=True)
    write_ros2(folder / "valid", {"imu": log}, {"filter": track})
    binary = {
        "rosbag 1": (".bag", (folder / "valid.bag").read_bytes(), b"#ROSBAG V2.0\n"),
        "rosbag 2": (".db3", (folder / "valid" / "valid.db3").read_bytes(), b"SQLite format 3\0"),
        "mcap": (".mcap", (folder / "valid.mcap").read_bytes(), b"\x89MCAP0\r\n"),
        "ulog": (".ulg", format_cases.ulog(), b"ULog\x01\x12\x35"),
        "ardupilot": (".bin", format_cases.dataflash(rows=30), b"\xa3\x95\x80"),
        "mat": (".mat", _mat(), b"MATLAB 5.0 MAT-file" + bytes(105) + b"\x00\x01IM"),
        "mat 7.3": (".mat", _mat73(folder), b"\x89HDF\r\n\x1a\n"),
    }
    found = {
        name: Reader(suffix, read_all, (valid,), (), _random(magic), text=False)
        for name, (suffix, valid, magic) in binary.items()
    }
    texts = {
        "tum": (".tum", read_all, _TUM),
        "kitti": (".kitti", read_all, _KITTI),
        "nmea": (".nmea", read_all, _NMEA),
        "kalibr": (".yaml", read_model, _KALIBR),
        "euroc": (".csv", _inside(folder / "euroc", "mav0/imu0/data.csv", {}), _EUROC),
        "gnss-ins-sim": (
            ".csv",
            _inside(
                folder / "sim",
                "gyro-0.csv",
                {"time.csv": b"time (sec)\n0\n1\n2\n3\n", "accel-0.csv": _GYRO.replace(b"deg/s", b"m/s^2")},
            ),
            _GYRO,
        ),
        "kitti raw": (
            ".txt",
            _inside(
                folder / "raw",
                "oxts/data/0000000001.txt",
                {
                    "oxts/timestamps.txt": b"2011-09-26 13:02:25.96\n2011-09-26 13:02:26.96\n",
                    "oxts/data/0000000000.txt": b" ".join([b"1.0"] * 30),
                },
            ),
            b" ".join([b"1.0"] * 30),
        ),
        "ros 2 metadata": (
            ".yaml",
            _inside(
                folder / "bag2",
                "metadata.yaml",
                {"valid.db3": (folder / "valid" / "valid.db3").read_bytes()},
            ),
            (folder / "valid" / "metadata.yaml").read_bytes(),
        ),
    }
    for name, (suffix, read, valid) in texts.items():
        words = tuple(dict.fromkeys(valid.decode("utf-8", "replace").replace(",", " ").split()))[:60]
        found[name] = Reader(suffix, read, (valid,), words, lambda rng, words=words: make.table(rng, words, ()))
    for reader in found.values():
        path = folder / f"valid-first{reader.suffix}"
        path.write_bytes(reader.valid[0])
        try:
            reader.read(path)
        except StrapdownError as error:
            raise AssertionError(f"a valid file is refused: {error}") from error
    return found


def _random(magic: bytes) -> Callable[[Random], bytes]:
    return lambda rng: magic + rng.randbytes(rng.choice((0, 10, 200, 3000)))


def _inside(folder: Path, place: str, others: dict[str, bytes]) -> Callable[[Path], object]:
    """Reads a folder of which the file is a part."""
    for name, raw in {**others, place: b""}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)

    def read(path: Path) -> object:
        shutil.copyfile(path, folder / place)
        return read_all(folder)

    return read


def _mat() -> bytes:
    from scipy.io import savemat

    file = streams.BytesIO()
    rows = np.random.default_rng(2).normal(size=(3, 12, 3))
    names = dict(zip(("imu_acc", "imu_gyr", "imu_mag"), rows, strict=True))
    savemat(file, {**names, "info": "text", "more": {"a": 1.0, "b": rows[0]}}, do_compression=True)
    return file.getvalue()


def _mat73(folder: Path) -> bytes:
    import h5py

    path = folder / "made.mat"
    rows = np.random.default_rng(3).normal(size=(3, 3, 12))
    with h5py.File(path, "w") as file:
        for name, values in zip(("imu_acc", "imu_gyr", "imu_mag"), rows, strict=True):
            file[name] = values
    return path.read_bytes()
