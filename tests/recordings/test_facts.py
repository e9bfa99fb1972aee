"""What is known of a log, and from where."""

import numpy as np
import pytest

from strapdown.earth import MARS_GRAVITY, STANDARD_GRAVITY, earth_gravity
from strapdown.errors import InputError
from strapdown.recordings.examination.verdict import examine
from strapdown.recordings.facts import GIVEN, LOG, STANDARD, UNKNOWN, facts_of, noise_of_part
from strapdown.sensors.parts.part import load_part
from strapdown.types import Recording

TURNED = [0.0, 1.0, 0.0, 0.0]
T = np.arange(500) * 0.01


def log(**meta):
    return Recording(T, acc_s=np.tile([0.0, 0.0, 9.8], (500, 1)), meta=meta)


def test_a_log_that_states_nothing_has_the_usual():
    facts = facts_of(log())
    assert facts.gravity == STANDARD_GRAVITY and facts.sources["gravity"] == STANDARD
    assert facts.declination_rad == 0.0 and facts.noise == {} and facts.part is None
    assert facts.q_bs == (1.0, 0.0, 0.0, 0.0) and facts.r_bs_b == (0.0, 0.0, 0.0)
    assert set(facts.sources.values()) == {STANDARD, UNKNOWN}


def test_a_log_states_its_place_part_and_mounting():
    facts = facts_of(
        log(gravity_m_s2=9.79, magnetic_field_n_ut=[2.0, 20.0, -43.0], part="MPU-6050", quaternion_wxyz=TURNED)
    )
    assert facts.gravity == 9.79 and facts.sources["gravity"] == LOG
    assert facts.declination_rad == pytest.approx(np.arctan2(2.0, 20.0)) and facts.sources["declination_rad"] == LOG
    assert facts.part == load_part("MPU-6050") and set(facts.noise) == {"accelerometer", "gyroscope"}
    assert facts.q_bs == tuple(TURNED) and facts.sources["q_bs"] == LOG


def test_what_is_given_counts_more_than_what_the_log_states():
    stated = log(gravity_m_s2=9.79, part="MPU-6050", quaternion_wxyz=TURNED)
    given = {"q_bs": [1.0, 0.0, 0.0, 0.0], "declination_rad": 0.1, "r_bs_b": (1, 2, 3)}
    facts = facts_of(stated, gravity="mars", part="BMI160", **given)
    assert facts.gravity == MARS_GRAVITY and facts.part == load_part("BMI160")
    assert facts.noise["gyroscope"] == noise_of_part(stated, "BMI160")[1]["gyroscope"]
    assert facts.q_bs[0] == 1.0 and facts.r_bs_b == (1.0, 2.0, 3.0) and facts.declination_rad == 0.1
    for name in ("gravity", "part", "noise", "q_bs", "r_bs_b", "declination_rad"):
        assert facts.sources[name] == GIVEN
    assert facts_of(stated, gravity=None).gravity == 9.79  # None is as not given


def test_gravity_of_a_place():
    facts = facts_of(log(), latitude_deg=55.75, height_m=150.0)
    assert facts.gravity == float(earth_gravity(np.radians(55.75), 150.0))
    assert facts.sources["gravity"] == "at latitude 55.75 deg, height 150 m"


def test_a_part_that_the_catalogue_lacks_is_no_error_of_the_log():
    facts = facts_of(log(part="my own board"))
    assert facts.part is None and facts.noise == {} and facts.sources["part"] == UNKNOWN


@pytest.mark.parametrize(
    ("meta", "given", "words"),
    [
        ({}, {"gravity": 9.8, "latitude_deg": 50.0}, "give one of them"),
        ({}, {"gravity": "venus"}, "venus"),
        ({}, {"part": "MPU-9999"}, "MPU-9999"),
        ({}, {"q_bs": [2.0, 0.0, 0.0, 0.0]}, "q_bs has norm 2"),
        ({}, {"r_bs_b": [1.0, 2.0]}, "r_bs_b"),
        ({}, {"declination_rad": np.nan}, "declination_rad"),
        ({}, {"heading": 1.0}, 'was given "heading"; valid'),
        ({"quaternion_wxyz": "level"}, {}, "the log states a mounting that is none"),
        ({"quaternion_wxyz": [1.0, 1.0, 0.0, 0.0]}, {}, "the log states a mounting that is none"),
    ],
)
def test_what_cannot_be_is_one_sentence(meta, given, words):
    with pytest.raises(InputError, match=words) as error:
        facts_of(log(**meta), **given)
    assert "--" not in str(error.value)


NO_GRAVITY = ["9.8", True, [9.8], {"g": 9.8}, 10**400, np.nan]
NO_FIELD = [[1, 2], "north", ["a", "b", "c"], [1.0, None, 2.0], [[1], [2], [3]], [True, True, True], [10**400, 0, 0], 3]


@pytest.mark.parametrize(
    "meta",
    [{"gravity_m_s2": value} for value in NO_GRAVITY] + [{"magnetic_field_n_ut": value} for value in NO_FIELD],
)
def test_meta_of_another_kind_is_one_sentence(meta):
    (key,) = meta
    spoilt = log(**meta)
    asked = [facts_of] if key == "magnetic_field_n_ut" else [facts_of, examine]
    for call in asked:
        with pytest.raises(InputError, match=f"the log states {key} = ") as error:
            call(spoilt)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("meta", [{"gravity_m_s2": 0.0}, {"magnetic_field_n_ut": [0, 0, 0]}, {"part": 7}])
def test_meta_that_states_nothing_is_not_used(meta):
    facts = facts_of(log(**meta))
    assert facts.gravity == STANDARD_GRAVITY and facts.declination_rad == 0.0 and facts.part is None
