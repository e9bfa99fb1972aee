# The public names of this package: __init__.py loads each at its first use.
from .figures import save as save
from .plotting import plot as plot
from .report import report as report, write_report as write_report
