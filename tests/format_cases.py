"""Recordings and tracks for the tests of other formats, and how two of them are compared."""

import struct

import numpy as np

from strapdown.io.formats import Track
from strapdown.rotation import q_from_euler
from strapdown.sample import Fixes
from strapdown.types import Motion, Recording

ORIGIN = {"latitude_deg": 59.9, "longitude_deg": 30.3, "height_m": 12.0}
T0_NS = 1_700_000_000_123_456_789


def recording(n=200, **meta):
    """A sensor at 100 Hz with a magnetometer at 20 Hz, fixes at 5 Hz, an odometer, a temperature and the truth."""
    rng = np.random.default_rng(5)
    k = np.arange(n)
    t = k * 0.01
    field = np.repeat(rng.normal(0.0, 30.0, (n // 5 + 1, 3)), 5, axis=0)[:n]
    place = np.repeat(rng.normal(0.0, 50.0, (n // 20 + 1, 3)), 20, axis=0)[:n]
    q = q_from_euler(0.1 * np.sin(t), 0.2 * np.cos(t), t)
    zero = np.zeros((n, 3))
    return Recording(
        t,
        gyr_s=rng.normal(0.0, 0.5, (n, 3)),
        acc_s=rng.normal(0.0, 2.0, (n, 3)) + np.array([0.0, 0.0, 9.81]),
        mag_s=field,
        temperature=25.0 + 0.001 * k,
        odometer=0.02 * k,
        position_fix=Fixes(place, np.full((n, 3), 1.5), t[(k // 20) * 20]),
        truth=Motion(t, rng.normal(0.0, 3.0, (n, 3)), rng.normal(0.0, 1.0, (n, 3)), zero, q, zero, zero),
        new={"mag_s": k % 5 == 0, "position_fix": k % 20 == 0},
        meta={"t0_ns": T0_NS, "origin": ORIGIN, "part": "MPU-6050", **meta},
    )


def track(n=150):
    rng = np.random.default_rng(6)
    t = np.arange(n) * 0.02
    return Track(
        t,
        rng.normal(0.0, 5.0, (n, 3)),
        q_from_euler(0.1 * np.sin(t), 0.1 * np.cos(t), 0.5 * t),
        rng.normal(0.0, 1.0, (n, 3)),
        "test",
        T0_NS,
    )


def same_readings(found, expected, instruments=("gyr_s", "acc_s")):
    """To the bit: these formats hold doubles as they are; times to the ns of their stamps."""
    assert len(found) == len(expected)
    np.testing.assert_allclose(found.t, expected.t - expected.t[0], rtol=0.0, atol=1.1e-9)
    for name in instruments:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def same_track(found, expected):
    np.testing.assert_allclose(found.t, expected.t, rtol=0.0, atol=1.1e-9)  # ns of the stamps
    np.testing.assert_array_equal(found.p_n, expected.p_n)
    np.testing.assert_allclose(found.q_nb, expected.q_nb, rtol=0.0, atol=4e-16)  # roundoff of making it unit again


def dataflash(imus=(0,), rows=100):
    """A DataFlash log by the rules of ArduPilot: FMT messages, then rows. pymavlink has no writer."""
    formats = {
        "IMU": (130, "QBffffffIIfBBHH", "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ,EG,EA,T,GH,AH,GHz,AHz"),
        "MAG": (131, "QBhhhhhhhhhBI", "TimeUS,I,MagX,MagY,MagZ,OfsX,OfsY,OfsZ,MOX,MOY,MOZ,Health,S"),
        "ATT": (132, "Qccccccff", "TimeUS,DesRoll,Roll,DesPitch,Pitch,DesYaw,Yaw,ErrRP,ErrYaw"),
        "XKF1": (133, "QBccCfffffffccce", "TimeUS,C,Roll,Pitch,Yaw,VN,VE,VD,dPD,PN,PE,PD,GX,GY,GZ,OH"),
        "GPS": (134, "QBBIHBcLLeffffB", "TimeUS,I,Status,GMS,GWk,NSats,HDop,Lat,Lng,Alt,Spd,GCrs,VZ,Yaw,U"),
        "BARO": (135, "QBffcf", "TimeUS,I,Alt,Press,Temp,CRt"),
    }
    letters = {"Q": "Q", "B": "B", "f": "f", "I": "I", "H": "H", "h": "h", "c": "h", "C": "H", "e": "i", "L": "i"}
    out = [b"\xa3\x95\x80" + struct.pack("<BB4s16s64s", 0x80, 89, b"FMT", b"BBnNZ", b"Type,Length,Name,Format,Columns")]
    packers = {}
    for name, (number, form, columns) in formats.items():
        packers[name] = (number, struct.Struct("<" + "".join(letters[each] for each in form)))
        size = packers[name][1].size + 3
        out.append(
            b"\xa3\x95\x80" + struct.pack("<BB4s16s64s", number, size, name.encode(), form.encode(), columns.encode())
        )

    def row(name, *values):
        number, packer = packers[name]
        out.append(bytes([0xA3, 0x95, number]) + packer.pack(*values))

    for k in range(rows):
        us = 5_000_000 + k * 20_000
        for i in imus:
            row("IMU", us, i, 0.01 * k, 0.1, 0.2 + i, 0.5, 0.25, -9.75, 0, 0, 30.0 + i, 1, 1, 1000, 1000)
        if k % 5 == 0:
            row("MAG", us, 0, 200, -50, 400, 0, 0, 0, 0, 0, 0, 1, 0)
            row("BARO", us, 0, 10.0 + 0.1 * k, 101325.0, 2500, 0.0)
            row("ATT", us, 0, 100, 0, 200, 0, 9000, 0.0, 0.0)
            row("XKF1", us, 0, 100, 200, 9000, 1.0, 2.0, -0.5, 0.0, 0.1 * k, 0.2 * k, -0.3 * k, 0, 0, 0, 0)
            row("GPS", us, 0, 3, 0, 0, 9, 80, 473977420, 85455940 + 10 * k, 48800, 2.0, 90.0, -0.5, 0.0, 1)
    return b"".join(out)


def ulog(rows=60):
    """A ULog by its rules: definitions, subscriptions, rows; IMU at 250 Hz, attitude, position and fixes."""
    formats = {
        "sensor_combined": ("float[3] gyro_rad;float[3] accelerometer_m_s2;", "6f", (0.01, 0.0, 0.0, 0.0, 0.0, -9.8)),
        "vehicle_magnetometer": ("float[3] magnetometer_ga;", "3f", (0.2, 0.0, 0.4)),
        "vehicle_attitude": ("float[4] q;", "4f", (1.0, 0.0, 0.0, 0.0)),
        "vehicle_local_position": (
            "float x;float y;float z;float vx;float vy;float vz;bool xy_valid;bool z_valid;",
            "6f2?",
            (1.0, 2.0, -3.0, 0.1, 0.2, 0.3, True, True),
        ),
        "vehicle_gps_position": (
            "int32_t lat;int32_t lon;int32_t alt;float eph;float epv;float s_variance_m_s;float vel_n_m_s;"
            "float vel_e_m_s;float vel_d_m_s;uint8_t fix_type;",
            "3i6fB",
            (473977420, 85455940, 488000, 1.0, 2.0, 0.3, 0.0, 0.0, 0.0, 3),
        ),
    }

    def message(kind, body):
        return struct.pack("<HB", len(body), ord(kind)) + body

    out = [b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 1000), message("B", bytes(40))]
    out += [message("F", f"{name}:uint64_t timestamp;{fields}".encode()) for name, (fields, _, _) in formats.items()]
    out += [message("A", struct.pack("<BH", 0, i) + name.encode()) for i, name in enumerate(formats)]
    for k in range(rows):
        for i, (_, form, values) in enumerate(formats.values()):
            if i == 0 or k % 5 == 0:
                out.append(message("D", struct.pack(f"<HQ{form}", i, 1_000_000 + 4000 * k, *values)))
    return b"".join(out)
