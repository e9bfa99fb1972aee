# The public names of this package: __init__.py loads each at its first use.
from .definition.file import Campaign as Campaign, read_campaign as read_campaign
from .python import CampaignRuns as CampaignRuns, run_campaign as run_campaign
from .results.cells import Results as Results
