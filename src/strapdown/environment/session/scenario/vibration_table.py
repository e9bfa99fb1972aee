"""The [vibration] of a scenario file."""

import numpy as np

from strapdown.environment.table import NotNegative, Positive, Table
from strapdown.errors import InputError
from strapdown.motion.vibration import Vibration, motor_hum, road, rotor_imbalance
from strapdown.sensors.streams import stream
from strapdown.vehicles.vehicle import Vehicle


class VibrationTable(Table):
    """Vibration of the vehicle. Rotors: imbalance of each one (kg m). Drives: hum while they run (armed, or with power
    on), amplitude and frequency. Road: roughness (m3, ISO 8608 at 0.1 waves per m).
    """

    imbalance_kg_m: NotNegative = 0.0
    hum_m_s2: NotNegative = 0.0
    hum_hz: Positive = 90.0
    road_m3: NotNegative = 0.0

    def of(self, vehicle: Vehicle, seed: int) -> Vibration | None:
        """Vibration of this vehicle, at its body; None if there is none."""
        found = Vibration()
        if self.imbalance_kg_m > 0.0:
            if not vehicle.rotors:
                raise InputError(f'vehicle "{vehicle.name}" has no rotors that can be out of balance')
            hubs = np.array([rotor.position_m for rotor in vehicle.rotors]) - np.array(vehicle.centre_m)
            spins = [rotor.spin for rotor in vehicle.rotors]
            found += rotor_imbalance(self.imbalance_kg_m, hubs, spins, vehicle.mass_kg, vehicle.inertia_kg_m2)
        if self.hum_m_s2 > 0.0:
            across = 0.5 * self.hum_m_s2
            found += motor_hum((across, across, self.hum_m_s2), self.hum_hz, source=hum_source(vehicle))
        if self.road_m3 > 0.0:
            if not vehicle.wheels:
                raise InputError(f'vehicle "{vehicle.name}" has no wheels that feel a road')
            found += road(self.road_m3, stream(seed, "road"), source=road_source(vehicle))
        return found if found.lines else None


def road_source(vehicle: Vehicle) -> int:
    """Number of the source of vibration that is the distance along the road; earlier ones are rotors or wheels."""
    return len(vehicle.actuators)


def hum_source(vehicle: Vehicle) -> int:
    """Number of the source of vibration that is the running drive."""
    return len(vehicle.actuators) + 1
