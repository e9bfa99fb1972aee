# The public names of this package: __init__.py loads each at its first use.
from .catalogue import filter_by_name as filter_by_name
from .complementary import Complementary as Complementary
from .gyro import Gyro as Gyro
from .lanes import run_many as run_many
from .lodestar import Lodestar as Lodestar
from .madgwick import Madgwick as Madgwick
from .mahony import Mahony as Mahony
from .mekf import Mekf as Mekf
from .paper_b import PaperB as PaperB
from .vqf import Vqf as Vqf
