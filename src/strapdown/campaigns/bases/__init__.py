"""What a run of a campaign does: a scenario, a rig, a path, a recording, or a function of the user."""

from strapdown.campaigns.bases.interface import Base
from strapdown.campaigns.definition.file import Campaign


def base_of(campaign: Campaign) -> Base:
    """The base that the campaign names."""
    if campaign.kind == "scenario":
        from strapdown.campaigns.bases.scenario import ScenarioBase

        return ScenarioBase(campaign)
    if campaign.kind == "recording":
        from strapdown.campaigns.bases.recording import RecordingBase

        return RecordingBase(campaign)
    from strapdown.campaigns.bases.rig import RigBase

    return RigBase(campaign)
