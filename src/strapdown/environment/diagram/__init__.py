"""Functional block diagrams: read from TOML, checked, scheduled once into code without branches, run cycle by cycle.

A diagram file knows kinds of blocks by name only. Blocks of the package are in environment/blocks; a user's own come
from a Python file that is named explicitly (`load_blocks`).
"""

from strapdown.environment.diagram.block import Block, BlockParameters, Memoryless, block, parameter
from strapdown.environment.diagram.checking.check import check, compile_diagram
from strapdown.environment.diagram.file import Diagram, read_diagram, write_diagram
from strapdown.environment.diagram.kinds import Kind, load_blocks, palette
from strapdown.environment.diagram.port import ANY, FLAG, QUATERNION, Port, Value
from strapdown.environment.diagram.problem import DiagramError, Problem
from strapdown.environment.diagram.running.record import record
from strapdown.environment.diagram.running.runner import BlockError, Runner, Snapshot

__all__ = [
    "ANY",
    "FLAG",
    "QUATERNION",
    "Block",
    "BlockError",
    "BlockParameters",
    "Diagram",
    "DiagramError",
    "Kind",
    "Memoryless",
    "Port",
    "Problem",
    "Runner",
    "Snapshot",
    "Value",
    "block",
    "check",
    "compile_diagram",
    "load_blocks",
    "palette",
    "parameter",
    "read_diagram",
    "record",
    "write_diagram",
]
