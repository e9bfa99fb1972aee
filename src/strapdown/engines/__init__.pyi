# The public names of this package: __init__.py loads each at its first use.
from .mujoco.recorded.driven import DrivenRobot as DrivenRobot
from .mujoco.plant import MujocoPlant as MujocoPlant
from .mujoco.robot import MujocoRobot as MujocoRobot
from .mujoco.robot_file import RobotFile as RobotFile
from .parts import Mount as Mount
