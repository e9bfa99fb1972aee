# The public names of this package: __init__.py loads each at its first use.
from .catalogue import path_from_settings as path_from_settings
from .paths.circle import Circle as Circle, FigureEight as FigureEight
from .paths.flight import Flight as Flight
from .paths.linear import Linear as Linear
from .paths.poses import Poses as Poses
from .paths.profile import Keep as Keep, MoveTo as MoveTo, Ramp as Ramp, SmoothRamp as SmoothRamp
from .paths.rest import Rest as Rest
from .paths.stop_and_go import StopAndGo as StopAndGo, Stops as Stops
from .paths.tumble import Tumble as Tumble
from .paths.turntable import Turntable as Turntable
from .paths.waypoints import Waypoints as Waypoints
from .played import Played as Played
from .protocol import MotionSource as MotionSource, Path as Path
from .recorded import RecordedMotion as RecordedMotion, read_poses as read_poses
from .vibration import Vibrating as Vibrating, Vibration as Vibration
