"""Where the body is: analytic paths, recorded poses, and the protocols that engines share with them."""

from strapdown.motion.catalogue import path_from_settings
from strapdown.motion.circle import Circle, FigureEight
from strapdown.motion.linear import Linear
from strapdown.motion.played import Played
from strapdown.motion.poses import Poses
from strapdown.motion.profile import Keep, MoveTo, Ramp, SmoothRamp
from strapdown.motion.protocol import MotionSource, Path
from strapdown.motion.rest import Rest
from strapdown.motion.stop_and_go import StopAndGo, Stops
from strapdown.motion.tumble import Tumble
from strapdown.motion.turntable import Turntable
from strapdown.motion.waypoints import Waypoints

__all__ = [
    "Circle",
    "FigureEight",
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
    "Waypoints",
    "path_from_settings",
]
