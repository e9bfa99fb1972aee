"""So that cases of this folder are found whichever folder pytest is started with."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
