"""What the operator's console allows and refuses, and how a recorded session flies a new one."""

import pytest
from tests.environment.session.session_cases import flown, logs, resting, short

from strapdown.environment.session.commands import Push
from strapdown.environment.session.console import Console, console_values, operated
from strapdown.environment.session.events import SessionEvent, sentence
from strapdown.environment.session.recording.files import read_console, write_session
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.scenario.file import read_scenario
from strapdown.environment.session.session import Session
from strapdown.errors import InputError

ON = Console(power=1.0)


def test_arming_needs_rotors_power_and_no_calibration():
    assert operated(ON, {"arm": 1.0}, has_rotors=True) == (ON._replace(arm=1.0), "")
    cases = [
        (ON, False, "this vehicle has no rotors to arm"),
        (Console(), True, "the power is off"),
        (ON._replace(calibrate=1.0), True, "a calibration is running"),
    ]
    for console, rotors, reason in cases:
        after, refused = operated(console, {"arm": 1.0}, has_rotors=rotors)
        assert after.arm == 0.0 and reason in refused


def test_calibration_needs_power_and_motors_off():
    assert operated(ON, {"calibrate": 1.0}, has_rotors=True)[0].calibrate == 1.0
    for console, reason in ((Console(), "the power is off"), (ON._replace(arm=1.0), "the motors are armed")):
        after, refused = operated(console, {"calibrate": 1.0}, has_rotors=True)
        assert after.calibrate == 0.0 and reason in refused


def test_power_and_arm_at_once_is_allowed_and_power_off_disarms():
    assert operated(Console(), {"power": 1.0, "arm": 1.0}, has_rotors=True)[0].arm == 1.0
    flying = ON._replace(arm=1.0, calibrate=1.0)
    assert operated(flying, {"power": 0.0}, has_rotors=True) == (Console(), "")


def test_sliders_are_kept_by_name():
    first, _ = operated(ON, {"sliders": {"a": 0.1, "b": 0.2}}, has_rotors=False)
    second, _ = operated(first, {"sliders": {"b": 0.5}}, has_rotors=False)
    assert second.sliders == {"a": 0.1, "b": 0.5}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"roll": 1.01}, "roll is 1.01; give a number from -1 to 1"),
        ({"roll": float("nan")}, "give a number from -1 to 1"),
        ({"roll": True}, "give a number from -1 to 1"),
        ({"roll": "left"}, "give a number from -1 to 1"),
        ({"power": 0.5}, "power is 0.5; give true or false"),
        ({"mode": "acro"}, "give rate, stabilise, hold"),
        ({"mode": 3}, "give rate, stabilise, hold"),
        ({"flaps": 1.0}, 'the console has no "flaps"'),
        ({"sliders": {"a": "x"}}, "a table of numbers"),
        ({"sliders": 0.5}, "a table of numbers"),
    ],
)
def test_values_that_no_control_has_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        console_values(given)


def test_plain_values_become_positions():
    found = console_values({"power": True, "arm": 0, "mode": "rate", "roll": -1})
    assert found == {"power": 1.0, "arm": 0.0, "mode": 0.0, "roll": -1.0}


def test_events_name_the_controls_as_a_person_does():
    given = {"power": True, "mode": "stabilise", "arm": True, "throttle": 0.6, "sliders": {"elbow": 0.25}}
    said = sentence(SessionEvent(1.0, "console", {"changes": console_values(given)}))
    assert said == "console: power on, mode stabilise, armed, throttle 0.6, slider elbow 0.25"
    assert sentence(SessionEvent(1.0, "console", {"changes": {"power": 0.0}})) == "console: power off"


def test_a_misspelt_scenario_is_answered_with_the_name_that_was_meant():
    with pytest.raises(InputError, match="did you mean quadcopter"):
        read_scenario("quadcoptr")
    with pytest.raises(InputError, match="valid names: manipulator"):
        read_scenario("submarine_xyz")


def test_what_a_session_refuses_is_an_event_and_it_goes_on():
    session = Session(resting(1.0), seed=1)
    session.operate(arm=True)
    session.operate(flaps=1.0)
    session.run()
    reasons = [event.data["reason"] for event in session.events if event.kind == "refused"]
    assert len(reasons) == 2 and "power is off" in reasons[0] and "flaps" in reasons[1]
    assert session.console.arm == 0.0 and session.t_s == 1.0


def test_sensors_give_values_only_while_enabled():
    session = Session(resting(1.0, pilot=[{"at_s": 0.2, "power": True}, {"at_s": 0.6, "power": False}]), seed=1)
    for until, on in ((0.1, 0.0), (0.5, 1.0), (0.9, 0.0)):
        session.advance(until - session.t_s)
        assert session.runner.value("estimation/accelerometer.ok") == on
        assert bool(session.runner.value("estimation/accelerometer.out").any()) == bool(on)


def test_calibration_refuses_in_motion():
    pilot = [
        {"at_s": 0.1, "power": True},
        {"at_s": 0.3, "calibrate": True},
        {"at_s": 2.4, "calibrate": False},
    ]
    still = flown(resting(3.0, pilot=pilot), seed=1)
    assert [e.kind for e in still.events if "calibrat" in e.kind] == ["calibrated"]
    shaken = Session(resting(3.0, pilot=pilot), seed=1)
    shaken.advance(1.5)
    for _ in range(10):
        shaken.act(Push("frame", (0.0, 0.0, 9.0), for_s=0.05))
        shaken.advance(0.1)
    shaken.run()
    assert [e.kind for e in shaken.events if "calibrat" in e.kind] == ["calibration_refused"]


@pytest.mark.parametrize("live", [False, True])
def test_a_recorded_pilot_flies_the_same_session_to_the_bit(live, tmp_path):
    """Script or live controls: the recorded console repeats the flight."""
    first = Session(short(), seed=5)
    if live:
        first.advance(5.0)
        first.operate(roll=0.3, yaw=-0.2)
    first.run()
    (tmp_path / "flight").mkdir()
    write_session(tmp_path / "flight", recording_of(first))
    scenario = short(pilot=[]).model_copy(update={"pilot_recording": "flight", "folder": tmp_path})
    again = flown(scenario, seed=5)
    assert logs(again) == logs(first)
    assert [e for e in again.events if e.kind != "console"] == [e for e in first.events if e.kind != "console"]


def test_sliders_are_played_back(tmp_path):
    pilot = [{"at_s": 0.1, "power": True, "mode": "rate"}, {"at_s": 0.5, "sliders": {"elbow slider": 0.4}}]
    first = flown(resting(1.5, "manipulator", pilot=pilot), seed=5)
    write_session(tmp_path, recording_of(first))
    moved = [(t, changes["sliders"]) for t, changes in read_console(tmp_path) if "sliders" in changes]
    assert moved[-1] == (0.5, {"elbow slider": 0.4})
    scenario = resting(1.5, "manipulator").model_copy(update={"pilot_recording": str(tmp_path)})
    assert logs(flown(scenario, seed=5))["body"] == logs(first)["body"]


def test_a_file_without_a_console_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"t [s]": [0.0, 1.0]}), tmp_path / "signals.parquet")
    with pytest.raises(InputError, match="has no console"):
        read_console(tmp_path)
