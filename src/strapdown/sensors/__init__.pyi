# The public names of this package: __init__.py loads each at its first use.
from .aiding.altimeter import Altimeter as Altimeter
from .aiding.barometer import Barometer as Barometer
from .aiding.fix import FixReceiver as FixReceiver
from .imu import Imu as Imu
from .inclinometer import Inclinometer as Inclinometer, Tilt as Tilt
from .magnetic_sources import CurrentLoop as CurrentLoop, Dipole as Dipole, MagneticWorld as MagneticWorld
from .module import Module as Module
from .module_reader import ModuleReader as ModuleReader
from .odometer import Wheel as Wheel, WheelOdometer as WheelOdometer
from .aiding.outside_parts import outside_part as outside_part
from .parts.part import Part as Part, Specimen as Specimen, load_part as load_part
from .record import (
    MountedPath as MountedPath,
    Surroundings as Surroundings,
    ideal_readings as ideal_readings,
    record as record,
)
from .temperature import SelfHeating as SelfHeating, TemperatureSeries as TemperatureSeries
from .triad import (
    Triad as Triad,
    instability_from_floor as instability_from_floor,
    random_walk_from_density as random_walk_from_density,
    random_walk_from_per_root_hour as random_walk_from_per_root_hour,
    walk_from_matlab as walk_from_matlab,
    white_from_matlab as white_from_matlab,
)
