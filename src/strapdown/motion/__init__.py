"""Where the body is: analytic paths, recorded poses, and the protocols that engines share with them."""

from strapdown.motion.catalogue import path_from_settings
from strapdown.motion.paths.circle import Circle, FigureEight
from strapdown.motion.paths.flight import Flight
from strapdown.motion.paths.linear import Linear
from strapdown.motion.paths.poses import Poses
from strapdown.motion.paths.profile import Keep, MoveTo, Ramp, SmoothRamp
from strapdown.motion.paths.rest import Rest
from strapdown.motion.paths.stop_and_go import StopAndGo, Stops
from strapdown.motion.paths.tumble import Tumble
from strapdown.motion.paths.turntable import Turntable
from strapdown.motion.paths.waypoints import Waypoints
from strapdown.motion.played import Played
from strapdown.motion.protocol import MotionSource, Path
from strapdown.motion.vibration import Vibrating, Vibration

__all__ = [
    "Circle",
    "FigureEight",
    "Flight",
    "Keep",
    "Linear",
    "MotionSource",
    "MoveTo",
    "Path",
    "Played",
    "Poses",
    "Ramp",
    "Rest",
    "SmoothRamp",
    "StopAndGo",
    "Stops",
    "Tumble",
    "Turntable",
    "Vibrating",
    "Vibration",
    "Waypoints",
    "path_from_settings",
]
