"""The view of a campaign: progress and results of its folder, and any of its runs opened."""

import os
import re

import pytest
from page_browser import PageStudio, Visitor, need_browser
from PIL import Image

from campaign_cases import wait_for
from helpers import ROOT, command, write

CAMPAIGN = """
version = 1
title = "Wind on a quadcopter"
scenario = "quadcopter"
measure = ["lost", "end_distance_m", "tilt_rmse_deg", "diverged"]
[set]
duration_s = 8.0
[grid]
"scene.wind_m_s.1" = [0.0, 8.0]
[draw]
"scene.turbulence_m_s" = { uniform = [0.0, 4.0] }
[seeds]
runs = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("campaign")
    file = write(made, "wind.toml", CAMPAIGN)
    assert command("campaign", "run", file, "-o", made / "out", "--workers", "0").code == 0
    return made / "out"


@pytest.fixture(scope="module")
def campaign_studio(folder, tmp_path_factory):
    need_browser()
    with PageStudio(tmp_path_factory.mktemp("page"), str(folder)) as made:
        yield made


def test_results_are_shown_and_a_run_opens(browser, campaign_studio, folder, tmp_path):
    visitor = Visitor(browser, campaign_studio, height=900)
    page = visitor.page
    page.keyboard.press("5")
    page.get_by_role("heading", name="Wind on a quadcopter").wait_for()
    assert page.get_by_text("6 of 6 runs").count() == 1
    assert page.locator("section[aria-label=Cells] tbody tr").count() == 2
    page.get_by_label("Figure", exact=True).select_option("end_distance_m")
    page.get_by_role("heading", name="Runs with the largest end_distance_m").wait_for()
    assert page.locator("section[aria-label=Sensitivity]").get_by_text("scene.wind_m_s.1").count() == 1
    page.screenshot(path=tmp_path / "campaign.png")
    if os.environ.get("STRAPDOWN_PICTURES"):
        picture_for_the_docs(browser, campaign_studio)
    key = page.locator("section[aria-label=Runs] code").first.text_content()
    shown = float(page.locator("section[aria-label=Runs] tr").first.locator("b").text_content())
    page.get_by_role("button", name=f"Open run {key}").click()
    visitor.until("strapdown.world().session.mode === 'live' && strapdown.view().view === 'fly'", 300.0)
    assert key in visitor.ask("strapdown.world().session.title")
    visitor.speed(5)
    visitor.until("strapdown.now().t >= 7.99", 300.0)
    place = visitor.ask("strapdown.body()")
    start = visitor.ask("strapdown.world().session.seed")
    row = command("run", folder, "--run", key, "--json")
    assert row.code == 0 and f'"seed": {start}' in row.out
    # the same run: where it ends is where the table has it, to the digits that the page shows
    assert sum(x * x for x in place[:2]) ** 0.5 == pytest.approx(shown, abs=0.2)  # m: start is not the origin exactly
    page.keyboard.press("5")
    page.get_by_label("Key of a run").fill("nothing")
    page.get_by_role("button", name="Open run", exact=True).click()
    page.get_by_text(re.compile("is not a key of a run")).wait_for()
    errors = visitor.errors
    visitor.close()
    assert errors == []


def picture_for_the_docs(browser, studio):
    path = ROOT / "docs" / "pictures" / "studio_campaign.png"
    visitor = Visitor(browser, studio, "&theme=dark", quality="high", width=1440, height=900)
    visitor.page.keyboard.press("5")
    visitor.page.get_by_role("heading", name="Wind on a quadcopter").wait_for()
    visitor.page.get_by_label("Figure", exact=True).select_option("end_distance_m")
    visitor.page.get_by_role("heading", name="Runs with the largest end_distance_m").wait_for()
    visitor.page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    visitor.close()


def test_without_a_campaign_the_view_states_how_to_open_one(visitor):
    visitor.show("campaign")
    visitor.page.get_by_text(re.compile("No campaign is open; start the studio with its folder")).wait_for()
    assert wait_for(lambda: visitor.errors == [], 1.0)
