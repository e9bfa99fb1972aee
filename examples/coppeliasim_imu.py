#python
# A virtual IMU inside CoppeliaSim. Add a simulation script (Python) to any object of the scene, put this text into it,
# and press play. Strapdown must be installed in the Python that CoppeliaSim uses (setting defaultPython in usrset.txt):
#     pip install "strapdown[coppeliasim]"
# Other scripts read the newest values by sim.readCustomTableData(object, 'strapdown'): t (s), acc (m/s2), gyr (rad/s).

PART = "MPU-6050"  # of the catalogue (strapdown sensors list), or None for ideal readings
FILE = "coppeliasim_imu.csv"  # written when the simulation stops; None: nothing is written


def sysCall_init():
    global imu
    from strapdown.environment.coppeliasim_imu import VirtualImu

    sim = require("sim")  # noqa: F821: CoppeliaSim provides it
    imu = VirtualImu(sim, sim.getObject(".."), part=PART, file=FILE)


def sysCall_sensing():
    imu.sense()


def sysCall_cleanup():
    imu.close()
