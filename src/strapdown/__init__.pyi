# The public names of this package: __init__.py loads each at its first use.
from . import (
    calibration as calibration,
    campaigns as campaigns,
    earth as earth,
    engines as engines,
    environment as environment,
    evaluation as evaluation,
    io as io,
    motion as motion,
    navigation as navigation,
    orientation as orientation,
    recordings as recordings,
    reporting as reporting,
    rotation as rotation,
    sensors as sensors,
    vehicles as vehicles,
)
from .calibration import Calibration as Calibration, read_calibration as read_calibration
from .campaigns.python import CampaignRuns as CampaignRuns, run_campaign as run_campaign
from .engines.mujoco.recorded.driven import DrivenRobot as DrivenRobot
from .engines.mujoco.robot import MujocoRobot as MujocoRobot
from .engines.mujoco.robot_file import RobotFile as RobotFile
from .environment.rig import Rig as Rig, read_rig as read_rig
from .environment.session.scenario.file import read_scenario as read_scenario
from .environment.session.session import Session as Session
from .environment.simulate import simulate as simulate
from .errors import (
    InputError as InputError,
    RangeWarning as RangeWarning,
    RobotError as RobotError,
    StrapdownError as StrapdownError,
)
from .evaluation.evaluate import Evaluation as Evaluation, evaluate as evaluate
from .io.files import read as read, read_one as read_one, write as write
from .io.solutions.file import read_solution as read_solution, write_solution as write_solution
from .live import Belief as Belief, Start as Start
from .motion.recorded import RecordedMotion as RecordedMotion, read_poses as read_poses
from .navigation import (
    Foot as Foot,
    Free as Free,
    Hand as Hand,
    Navigated as Navigated,
    WheeledRobot as WheeledRobot,
    dead_reckon as dead_reckon,
    dead_reckon_increments as dead_reckon_increments,
    navigate as navigate,
)
from .recordings import Facts as Facts, Tape as Tape, facts_of as facts_of, join as join
from .reporting.plotting import plot as plot
from .reporting.report import report as report
from .sample import Fix as Fix, Height as Height, Sample as Sample
from .sensors import (
    Imu as Imu,
    Specimen as Specimen,
    Surroundings as Surroundings,
    Triad as Triad,
    load_part as load_part,
    record as record,
)
from .types import (
    Event as Event,
    Increments as Increments,
    Motion as Motion,
    Recording as Recording,
    Solution as Solution,
)
