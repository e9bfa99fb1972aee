"""What carries the sensor is an object: every carrier of ours and a user's own run through the same program."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.live import Estimator, Start
from strapdown.navigation.alignment import align_to_yaw
from strapdown.navigation.carriers.by_name import FILTERS, VEHICLES, carrier_named
from strapdown.navigation.carriers.foot import Foot
from strapdown.navigation.carriers.free import Free
from strapdown.navigation.carriers.hand import Hand
from strapdown.navigation.carriers.interface import Carrier
from strapdown.navigation.carriers.paper_robot import PaperRobot
from strapdown.navigation.carriers.wheeled_robot import WheeledRobot
from strapdown.navigation.eskf.filter import Eskf
from strapdown.navigation.program import navigate
from strapdown.navigation.start_at_rest import Heading
from strapdown.navigation.stops.intervals import StopIntervals
from strapdown.navigation.stops.paper_stops import PaperStops
from strapdown.papers.c.drive import drive
from strapdown.types import Recording

NORTH = Heading(0.5 * np.pi, 0.0)


class Sledge:
    """A user's own: no base class, three methods."""

    def stops(self, recording, facts):
        return PaperStops(gravity=facts.gravity).find(recording)

    def estimator(self, recording, facts):
        return Eskf(gravity=facts.gravity, acc_bias_sigma=0.02)

    def after(self, solution, stops):
        return replace(solution, meta={**solution.meta, "notes": ("on snow",)})


class StartedSledge(Sledge):
    """And one that knows its start."""

    heading = NORTH

    def start(self, recording, facts):
        return Start.of(recording, alignment=align_to_yaw(recording, NORTH.yaw_rad, rest_s=5.0))


CARRIERS = {
    "robot": WheeledRobot(NORTH),
    "free": Free(NORTH),
    "hand": Hand(NORTH),
    "foot": Foot(NORTH),
    "paper": PaperRobot(NORTH),
    "own": Sledge(),
    "own, started": StartedSledge(),
}


@pytest.fixture(scope="module")
def one():
    return drive("square", 3100)


@pytest.mark.parametrize("name", CARRIERS)
def test_every_carrier_is_navigated(one, name):
    carrier, facts = CARRIERS[name], one.facts()
    assert isinstance(carrier, Carrier)
    assert isinstance(carrier.stops(one.log, facts), StopIntervals)
    assert isinstance(carrier.estimator(one.log, facts), Estimator)
    log = replace(one.log, odometer=None)
    found = navigate(log, carrier, facts)
    assert found.stops.believed.any() and np.array_equal(found.solution.t, log.t)
    if name.startswith("own"):
        assert "on snow" in found.notes
    if name != "foot":  # whose stops are those of a gait
        off = np.linalg.norm((found.solution.p_n - one.truth.p_n)[-1, :2])
        assert off < 0.3  # m of 4.8: chance; without stops it runs away by metres


@dataclass(frozen=True)
class Noting(StartedSledge):
    notes: object

    def after(self, solution, stops):
        return replace(solution, meta={**solution.meta, "notes": self.notes})


def test_a_note_is_a_sentence_or_several(one):
    short = replace(one.log, odometer=None)[:1000]
    assert "on snow" in navigate(short, Noting("on snow"), one.facts()).notes
    assert {"on snow", "on ice"} <= set(navigate(short, Noting(["on snow", "on ice"]), one.facts()).notes)
    for wrong in (3, [3], {"note": "on snow"}):
        with pytest.raises(InputError, match=r"Noting\.after is .*; give a sentence"):
            navigate(short, Noting(wrong), one.facts())


def test_the_names_of_the_command_are_carriers():
    made = {vehicle: carrier_named(vehicle, WheeledRobot(NORTH), None) for vehicle in VEHICLES}
    assert {name: type(carrier) for name, carrier in made.items()} == {
        "robot": WheeledRobot,
        "foot": Foot,
        "hand": Hand,
        "free": Free,
    }
    assert all(carrier.heading == NORTH for carrier in made.values())
    assert isinstance(carrier_named("robot", WheeledRobot(), None, FILTERS[1]), PaperRobot)
    for wrong, words in (
        (("boat",), "valid: robot, foot"),
        (("foot", "ekf15"), "use eskf"),
        (("robot", "x"), "no filter"),
    ):
        vehicle, *filters = wrong
        with pytest.raises(InputError, match=words):
            carrier_named(vehicle, WheeledRobot(), None, *filters)


def test_facts_are_those_of_the_log_where_none_are_given(one):
    found = navigate(replace(one.log, odometer=None), WheeledRobot(NORTH))
    assert found.solution.meta["gravity"] == one.log.meta["gravity_m_s2"]


def test_the_class_in_place_of_an_object_is_one_sentence():
    with pytest.raises(InputError, match="the class WheeledRobot"):
        navigate(Recording([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 3))), WheeledRobot)
