"""strapdown campaign: many runs, and what they show."""

import typer

from strapdown.cli.campaign.run import run
from strapdown.cli.campaign.show import show

campaign = typer.Typer(
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Thousands of runs on this computer or a Dask cluster: run, show.",
)
campaign.command("run")(run)
campaign.command("show")(show)
