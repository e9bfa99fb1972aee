# The public names of this package: __init__.py loads each at its first use.
from .course import Course as Course
from .foreign.plant import live_plant as live_plant
from .foreign.robot import ForeignRobot as ForeignRobot
from .mujoco.recorded.driven import DrivenRobot as DrivenRobot
from .mujoco.plant import MujocoPlant as MujocoPlant
from .mujoco.robot import MujocoRobot as MujocoRobot
from .mujoco.robot_file import RobotFile as RobotFile
from .parts import Mount as Mount
from .program import Command as Command, Program as Program, Push as Push
