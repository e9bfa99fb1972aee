# The public names of this package: __init__.py loads each at its first use.
from .apply import apply as apply
from .calibration import Calibration as Calibration, Correction as Correction
from .calibration_file import read_calibration as read_calibration, write_calibration as write_calibration
from .check import Check as Check, check as check
from .coverage import Coverage as Coverage, coverage as coverage
from .magnetometer.fit import MagnetometerFit as MagnetometerFit, calibrate_magnetometer as calibrate_magnetometer
from .noise.allan import Allan as Allan, allan_deviation as allan_deviation
from .noise.static_log import LogNoise as LogNoise, analyse_log as analyse_log
from .noise.twin import twin_of as twin_of, write_twin as write_twin
from .poses.positions import PositionsFit as PositionsFit, calibrate_positions as calibrate_positions
from .static import StaticFit as StaticFit, calibrate_static as calibrate_static
from .temperature.bias_curve import TemperatureFit as TemperatureFit, calibrate_temperature as calibrate_temperature
