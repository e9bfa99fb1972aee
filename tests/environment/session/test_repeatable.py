"""The same scenario and seed give the same bytes; rewinding changes nothing; a change acts from its instant on."""

import pytest
from tests.environment.session.session_cases import flown, logs, short

from strapdown.environment.session.commands import SetErrors, SetParameters
from strapdown.environment.session.recording.files import write_session
from strapdown.environment.session.recording.record import recording_of
from strapdown.environment.session.session import Session
from strapdown.errors import InputError

WIND = {"wind_m_s": [2.0, 1.0, 0.0], "turbulence_m_s": 4.0, "magnetic_induction_ut": [0.0, 20.0, -43.0]}


@pytest.fixture(scope="module")
def once() -> Session:
    return flown(short(scene=WIND), seed=3)


def test_the_same_seed_gives_the_same_files(once, tmp_path):
    again = flown(short(scene=WIND), seed=3)
    for name, session in (("a", once), ("b", again)):
        (tmp_path / name).mkdir()
        write_session(tmp_path / name, recording_of(session))
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


def test_another_seed_gives_other_readings(once):
    other = flown(short(scene=WIND), seed=4)
    assert logs(other)["imu"] != logs(once)["imu"]


@pytest.mark.parametrize("to_s", [0.0, 2.0, 3.37, 5.9])
def test_rewound_it_goes_on_to_the_bit(to_s):
    session = flown(short(scene=WIND), seed=3)
    before, events = logs(session), list(session.events)
    session.rewind(to_s)
    assert session.t_s == pytest.approx(to_s, abs=0.002)
    session.run()
    assert logs(session) == before
    assert session.events == events


def test_live_commands_are_repeated_up_to_the_time_of_the_rewind():
    session = Session(short(scene=WIND), seed=3)
    session.advance(4.5)
    session.operate(roll=0.4)
    session.advance(1.0)
    before = logs(session)
    session.rewind(5.2)
    session.advance(0.3)
    assert logs(session) == before
    session.rewind(4.4)
    session.advance(1.1)  # the stick was moved after 4.4 s, which is now the future
    assert session.console.roll == 0.0
    assert logs(session)["body"] != before["body"]


@pytest.mark.parametrize(
    "command",
    [
        SetParameters("estimation/filter", {"acc_white": 0.05}),
        SetErrors("imu", "gyroscope", {"white": [1e-3, 1e-3, 1e-3]}),
    ],
)
def test_a_setting_changed_in_flight_equals_a_run_from_the_snapshot(command):
    changed = Session(short(scene=WIND), seed=3)
    changed.advance(4.0)
    changed.post(command)
    changed.run()
    from_snapshot = Session(short(scene=WIND), seed=3)
    from_snapshot.advance(4.0)
    kept = from_snapshot.snapshot()
    from_snapshot.run()
    unchanged = logs(from_snapshot)
    from_snapshot.restore(kept)
    from_snapshot.post(command)
    from_snapshot.run()
    assert logs(from_snapshot) == logs(changed)
    assert logs(changed)["body"] != unchanged["body"]


def test_reset_begins_anew(once):
    before = logs(once)
    once.reset()
    assert once.t_s == 0.0
    once.run()
    assert logs(once) == before


def test_history_is_bounded_and_what_is_gone_is_refused():
    session = flown(short(duration_s=5.0, history_s=2.0), seed=3)
    with pytest.raises(InputError, match="history begins at 2 s; raise history_s"):
        session.rewind(1.0)
    with pytest.raises(InputError, match="give a time from"):
        session.rewind(9.0)
    session.rewind(2.5)
    assert session.t_s == pytest.approx(2.5, abs=0.002)


def test_readings_do_not_depend_on_the_length_of_a_cycle():
    """A block at 1 kHz makes each cycle one physics step; the sensor and the vehicle keep their bits."""
    session = flown(short(), seed=3)
    slow = Session(short(), seed=3)
    values = slow.runner.diagram.model_dump(by_alias=True, exclude_unset=True)
    values["block"] = [*values["block"], {"name": "fast", "kind": "constant", "rate_hz": 1000.0}]
    from strapdown.environment.diagram.file import diagram_from

    slow.runner.replace(diagram_from(values))
    slow.attach()
    slow.run()
    assert logs(slow)["imu"] == logs(session)["imu"]
    assert logs(slow)["body"] == logs(session)["body"]
