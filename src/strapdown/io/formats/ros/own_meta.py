"""The meta of our recordings in files of ROS messages: a text next to the messages, which others pass over."""

from dataclasses import replace
from typing import Any

from strapdown.io.formats.contents import Contents
from strapdown.io.table import finite_json

META = "strapdown"  # name of the metadata record of an MCAP file, key of the custom data of a ROS 2 bag


def with_own_meta(found: Contents, meta: dict[str, Any]) -> Contents:
    """What we wrote along with a recording, as its part and its rate; what the file states itself goes before."""
    known = {name: meta.get(name) for name in found.recordings}
    recordings = {
        name: each.with_meta(**{**said, **each.meta}) if isinstance(said := known[name], dict) else each
        for name, each in found.recordings.items()
    }
    return replace(found, recordings=recordings)


def own_meta_of(text: str) -> dict[str, Any]:
    """Sensor -> its meta, from the JSON that we wrote."""
    said = finite_json(text)
    return said if isinstance(said, dict) else {}
