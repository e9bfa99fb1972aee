"""A picture of a vehicle for the chooser: its shapes seen from the front left and above, as SVG."""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from strapdown.arrays import Array
from strapdown.errors import InputError
from strapdown.rotation import q_mul, q_rotate
from strapdown.vehicles.vehicle import read_vehicle, vehicle_names

WIDTH, HEIGHT, MARGIN = 320.0, 180.0, 14.0
_RIGHT = np.array([-np.sin(0.9), np.cos(0.9), 0.0])  # of the picture, frame n
_UP = np.array([-0.42 * np.cos(0.9), -0.42 * np.sin(0.9), np.sqrt(1.0 - 0.42**2)])
_TOWARDS = np.cross(_RIGHT, _UP)
_CIRCLE = np.stack([np.cos(np.arange(24) * np.pi / 12.0), np.sin(np.arange(24) * np.pi / 12.0)], axis=1)


def vehicle_picture(name: str) -> str:
    """SVG of a vehicle of the package."""
    if name not in vehicle_names():
        raise InputError(f'there is no picture of "{name[:60]}"')
    plant = read_vehicle(name).plant(gravity=9.81)
    bodies = plant.scene()["bodies"]
    poses = np.empty((len(bodies), 7))
    plant.poses(poses)
    shapes = []
    for body, pose in zip(bodies, poses, strict=True):
        for geom in body["geoms"]:
            points = _points(geom)
            if points is None:
                continue
            q, p = q_mul(pose[3:], geom["quat"]), pose[:3] + q_rotate(pose[3:], np.array(geom["pos"]))
            world = p + q_rotate(q, points)
            shapes.append((float((world @ _TOWARDS).mean()), world, geom["rgba"]))
    return _svg(sorted(shapes, key=lambda shape: shape[0]))


def _points(geom: dict) -> Array | None:
    """Points whose hull is the shape; None for the ground."""
    size, kind = geom["size"], geom["type"]
    if kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return signs * np.array(size)
    if kind in ("sphere", "ellipsoid"):
        axes = np.array(size if kind == "ellipsoid" else [size[0]] * 3)
        rings = [(np.cos(a), np.sin(a)) for a in np.linspace(-1.4, 1.4, 9)]
        return axes * np.concatenate([np.column_stack([c * _CIRCLE, np.full(24, s)]) for c, s in rings])
    if kind in ("cylinder", "capsule"):
        rim = size[0] * _CIRCLE
        half = size[1] + (0.7 * size[0] if kind == "capsule" else 0.0)
        return np.concatenate([np.column_stack([rim, np.full(24, z)]) for z in (-half, half)])
    if kind == "mesh":
        return np.array(geom["vertices"])
    return None


def _svg(shapes: list[tuple[float, Array, list[float]]]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img">'
    if not shapes:
        return head + "</svg>\n"
    flat = [np.column_stack([world @ _RIGHT, -(world @ _UP)]) for _, world, _ in shapes]
    everything = np.concatenate(flat)
    low, high = everything.min(axis=0), everything.max(axis=0)
    scale = float(np.min((np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN) / np.maximum(high - low, 1e-6)))
    middle = 0.5 * (low + high)
    lines = [head]
    for points, (_, _, rgba) in zip(flat, shapes, strict=True):
        try:
            hull = points[ConvexHull(points).vertices]
        except (QhullError, ValueError):  # seen edge-on
            continue
        placed = scale * (hull - middle) + 0.5 * np.array([WIDTH, HEIGHT])
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        red, green, blue = (round(255 * min(1.0, max(0.0, c))) for c in rgba[:3])
        lines.append(
            f'<polygon points="{corners}" fill="rgb({red},{green},{blue})" fill-opacity="{rgba[3]:.2f}" '
            'stroke="#0008" stroke-width="0.6"/>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"
