# The public names of this package: __init__.py loads each at its first use.
from .attitude_only import AttitudeEvaluation as AttitudeEvaluation
from .evaluate import (
    Evaluation as Evaluation,
    evaluate as evaluate,
    evaluate_files as evaluate_files,
    read_reference as read_reference,
)
from .stops import StopTable as StopTable, stop_table as stop_table
