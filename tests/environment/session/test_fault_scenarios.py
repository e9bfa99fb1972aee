"""The fault scenarios of the package: complete, every kind of fault among them, and verdicts that hold.

`strapdown reproduce B flight` runs all of them on 10 seeds. Here: one seed, one of each verdict.
"""

from typing import get_args

import pytest
from tests.environment.session.session_cases import flown

from helpers import command
from strapdown.environment.session.faults.kinds import AnyFault
from strapdown.environment.session.recording.outcome import figures, verdict
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import fault_names, read_scenario
from strapdown.environment.session.session import Session

ALL = {name: read_scenario(name) for name in fault_names()}


def test_there_are_twenty_and_they_have_every_kind():
    assert len(ALL) == 20
    kinds = {kind.model_fields["kind"].default for kind in get_args(get_args(AnyFault)[0])}
    assert {fault.kind for scenario in ALL.values() for fault in scenario.fault} == kinds


@pytest.mark.parametrize("name", ALL)
def test_each_states_verdict_limits_and_reason_and_can_begin(name):
    scenario = ALL[name]
    assert scenario.expect is not None and scenario.expect.attitude_deg and scenario.expect.height_m
    assert scenario.title and scenario.expect.why.endswith(".")
    assert len(scenario.fault) in (1, 2) and all(fault.at_s < scenario.duration_s for fault in scenario.fault)
    Session(scenario)


@pytest.mark.parametrize("name", ["gyroscope_dead", "altimeter_spikes", "motor_loses_50_percent"])
def test_the_verdict_holds(name):
    scenario = ALL[f"faults/{name}"]
    assert scenario.expect is not None
    session = flown(scenario, seed=101)
    assert verdict(figures(recording_of(session)), scenario.expect) == scenario.expect.verdict


def test_the_list_names_them():
    said = command("run", "--list", "--json")
    assert said.code == 0 and all(f'"{name}"' in said.out for name in ALL)
