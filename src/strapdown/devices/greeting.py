"""A module on a port, greeted and set with its last settings. The module is not started: its samples are not used
yet.
"""

from collections.abc import Callable

from strapdown.devices.home import keep_settings, read_settings
from strapdown.devices.link import BAUD, Link
from strapdown.devices.protocol.messages import UNCHANGED, Settings
from strapdown.devices.protocol.units import low_pass_for
from strapdown.devices.source import ModuleSource


def greeted_module(
    name: str, baud: int = BAUD, wanted: Callable[[Settings], Settings] = lambda kept: kept
) -> ModuleSource:
    """Open the port, wait for the module's hello frame and settle its settings.

    wanted: function from the stored settings of this module to the settings to use; new ones are stored. A low-pass
    that the user has not chosen follows from the rate. Raises InputError if the port cannot be opened, or no module
    answers.
    """
    link = Link(name, baud)
    try:
        source = ModuleSource(link)
        hello = source.greet()
        kept = read_settings(hello.serial)
        asked = wanted(kept)
        source.settings = asked
        if asked.low_pass == UNCHANGED:
            source.settings = asked._replace(low_pass=low_pass_for(asked.rate_hz or hello.rate_hz))
        if source.settings != Settings():
            source.greeted = False
            source.greet()
            if asked != kept:
                keep_settings(hello.serial, asked)
        return source
    except BaseException:
        link.close()
        raise
