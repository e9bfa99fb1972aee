"""Files of other programs: ROS bags, MCAP, ULog, ArduPilot, MATLAB, data sets. Formats: docs/formats.md."""

from strapdown.io.formats.contents import CHOOSE, Contents, Track, chosen_track
from strapdown.io.formats.registry import FORMATS, Format, format_of, read_contents

__all__ = ["CHOOSE", "FORMATS", "Contents", "Format", "Track", "chosen_track", "format_of", "read_contents"]
