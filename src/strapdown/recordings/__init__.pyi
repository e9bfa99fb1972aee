# The public names of this package: __init__.py loads each at its first use.
from .facts import Facts as Facts, facts_of as facts_of
from .examination.findings import Finding as Finding, Findings as Findings, LogError as LogError
from .join import join as join, with_instrument as with_instrument
from .rest import Still as Still, first_rest_until_s as first_rest_until_s, still_intervals as still_intervals
from .tape import Tape as Tape
from .examination.verdict import checked as checked, examine as examine
