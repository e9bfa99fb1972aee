"""A user's robot (URDF or MJCF) as a scenario: a servo with a slider on each joint, and an IMU on the last link."""

from pathlib import Path

from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.scenario.sensor_tables import ModuleTable


def robot_scenario(path: Path) -> Scenario:
    """The robot on its own, with an IMU. The joints of the robot are moved with sliders."""
    return Scenario(
        title=f"Robot {path.stem}",
        comment="Each joint has a servo. Move the sliders.",
        vehicle=path.name,
        duration_s=3600.0,
        sensor=(ModuleTable(name="imu", part="MPU-9250"),),
        folder=path.parent,
    )
