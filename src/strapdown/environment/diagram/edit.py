"""Changes of a diagram: a Diagram never changes, an edit gives a new one."""

from collections.abc import Mapping
from typing import Any

from strapdown.environment.diagram.file import BlockTable, Diagram


def block_table(diagram: Diagram, place: tuple[str, str]) -> BlockTable:
    """The block with this name on a sheet.

    place: sheet ("" for the main diagram) and block.
    """
    return next(b for name, sheet in diagram.sheets() if name == place[0] for b in sheet.block if b.name == place[1])


def with_parameters(diagram: Diagram, place: tuple[str, str], changes: Mapping[str, Any]) -> Diagram:
    """The diagram with some parameters of one block changed."""
    sheet_name, block_name = place

    def changed(sheet: Any) -> Any:
        blocks = tuple(
            b.model_copy(update={"parameters": {**b.parameters, **changes}}) if b.name == block_name else b
            for b in sheet.block
        )
        return sheet.model_copy(update={"block": blocks})

    if not sheet_name:
        return changed(diagram)
    subs = tuple(changed(sub) if sub.name == sheet_name else sub for sub in diagram.diagram)
    return diagram.model_copy(update={"diagram": subs})
