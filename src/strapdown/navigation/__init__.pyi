# The public names of this package: __init__.py loads each at its first use.
from .alignment import align_by_magnetometer as align_by_magnetometer, align_to_yaw as align_to_yaw
from .carriers.foot import Foot as Foot
from .carriers.free import Free as Free
from .carriers.hand import Hand as Hand
from .carriers.interface import Carrier as Carrier
from .carriers.paper_robot import PaperRobot as PaperRobot
from .carriers.wheeled_robot import WheeledRobot as WheeledRobot
from .dead_reckoning import dead_reckon as dead_reckon, dead_reckon_increments as dead_reckon_increments
from .ekf15 import Ekf15 as Ekf15
from .eskf.filter import Eskf as Eskf
from .eskf.updates import (
    FlatFloor as FlatFloor,
    MagneticHeading as MagneticHeading,
    NonHolonomic as NonHolonomic,
    WheelTravel as WheelTravel,
    ZeroRate as ZeroRate,
    ZeroVelocity as ZeroVelocity,
)
from .program import Navigated as Navigated, navigate as navigate
from .start_at_rest import Heading as Heading
from .stops.detectors import Ared as Ared, Magnitude as Magnitude, MovingVariance as MovingVariance, Shoe as Shoe
from .stops.foot_stops import FootStops as FootStops
from .stops.forward_stops import ForwardStops as ForwardStops
from .stops.intervals import StopDetector as StopDetector, StopIntervals as StopIntervals, Verdict as Verdict
from .stops.noise_stops import NoiseStops as NoiseStops
from .stops.paper_stops import PaperStops as PaperStops
from .stops.segment_stops import SegmentStops as SegmentStops
