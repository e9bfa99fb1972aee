"""The scene: paper B's text file of parameters, what it adds to a scenario, and its errors."""

import numpy as np
import pytest
from tests.environment.session.session_cases import resting, short

from strapdown.environment.session.scenario.file import Scenario
from strapdown.environment.session.scenario.scene import AIR, SceneTable, read_scene_text
from strapdown.environment.session.session import Session
from strapdown.errors import InputError

TEXT = """\
# scene of the laboratory
air_temperature_c = 21.5     # degC
magnetic_induction_ut = 1.0, 18.0, -45.0

gravity_m_s2 = 9.8
air_density_kg_m3 = 1.19
wind_m_s = [1 0 -0.5]
turbulence_m_s = 2
"""


def test_a_text_file_is_read(tmp_path):
    (tmp_path / "scene.txt").write_text(TEXT, encoding="utf-8")
    assert read_scene_text(tmp_path / "scene.txt") == {
        "air_temperature_c": 21.5,
        "magnetic_induction_ut": (1.0, 18.0, -45.0),
        "gravity": 9.8,
        "air_density_kg_m3": 1.19,
        "wind_m_s": (1.0, 0.0, -0.5),
        "turbulence_m_s": 2.0,
    }


def test_friction_of_the_scene_acts_on_the_wheels():
    """On ice the wheels turn and the rover stays behind: it gains no more than friction times the load on the tyres."""
    pilot = [{"at_s": 0.1, "power": True}, {"at_s": 0.2, "drive": 1.0}]

    def ways(**scene):
        session = Session(short(2.0, "rover", pilot=pilot, scene=scene))
        session.run()
        return session.truth[0], session.plant.travel_m

    way, by_wheels = ways()
    assert by_wheels > 0.2 and abs(way / by_wheels - 1.0) < 0.01
    way, by_wheels = ways(friction=0.01)
    assert way < 0.5 * 0.01 * 9.81 * 1.8**2 < 0.8 * by_wheels


@pytest.mark.parametrize(("radius_m", "lost"), ((0.1, True), (0.5, False)))
def test_a_vehicle_beyond_the_end_of_the_scene_is_lost(radius_m, lost):
    """The rover drives 0.2 to 0.3 m."""
    pilot = [{"at_s": 0.1, "power": True}, {"at_s": 0.2, "drive": 1.0}]
    session = Session(short(2.0, "rover", pilot=pilot, scene={"radius_m": radius_m}))
    session.run()
    assert 0.1 < session.truth[0] < 0.5
    assert session.watch.lost == lost
    assert ("away" in {event.kind for event in session.events}) == lost


def test_with_a_byte_order_mark_and_lines_of_windows(tmp_path):
    (tmp_path / "scene.txt").write_bytes("\ufeffair_temperature_c = 3\r\n".encode())
    assert read_scene_text(tmp_path / "scene.txt") == {"air_temperature_c": 3.0}


def test_the_scenario_comes_before_its_text_file_and_the_session_uses_both(tmp_path):
    (tmp_path / "scene.txt").write_text(TEXT, encoding="utf-8")
    whole = resting(0.1, scene={"file": "scene.txt", "air_temperature_c": 30.0})
    scenario = Scenario(**{**whole.model_dump(exclude_unset=True), "folder": tmp_path})
    scene = scenario.full_scene()
    assert scene.celsius() == 30.0 and scene.g() == 9.8 and scene.density() == 1.19
    assert scene.field_n().tolist() == [1.0, 18.0, -45.0]
    session = Session(scenario)
    assert session.surroundings.felt_now.field_n.tolist() == [1.0, 18.0, -45.0]
    assert session.sensors[0].module.temperature == 30.0
    assert session.surroundings.wind.mean_n == (1.0, 0.0, -0.5) and session.surroundings.wind.turbulence_m_s == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("air_temperature = 20", 'line 1: "air_temperature = 20" is not known; valid keys: air_temperature_c'),
        ("\n\nair_temperature_c 20", "line 3: .* is not known"),
        ("air_temperature_c = warm", 'line 1: "air_temperature_c" is "warm"; give one number'),
        ("air_temperature_c =", "give one number"),
        ("air_temperature_c = 1 2", "give one number"),
        ("air_temperature_c = nan", "give one number"),
        ("air_temperature_c = inf", "give one number"),
        ("wind_m_s = 1, 2", 'line 1: "wind_m_s" is "1, 2"; give three numbers'),
        ("wind_m_s = 1 2 x", "give three numbers"),
        ("turbulence_m_s = 1\nturbulence_m_s = 2", 'line 2: "turbulence_m_s" is given twice; keep one'),
    ],
)
def test_errors_name_the_line(text, message, tmp_path):
    (tmp_path / "scene.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_scene_text(tmp_path / "scene.txt")
    assert "scene.txt" in str(caught.value)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "big.txt").write_bytes(b"# " + b"x" * 200_000)
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    for name, message in (("big.txt", "a few lines"), ("bytes.txt", "not a text file"), ("none.txt", "none.txt")):
        with pytest.raises(InputError, match=message):
            read_scene_text(tmp_path / name)
    with pytest.raises(InputError):
        read_scene_text(tmp_path)


def test_a_value_beyond_its_limits_is_refused_with_the_file(tmp_path):
    (tmp_path / "scene.txt").write_text("air_temperature_c = 2000\n", encoding="utf-8")
    scenario = resting(0.1, scene={"file": "scene.txt"}).model_copy(update={"folder": tmp_path})
    with pytest.raises(InputError, match=r"scene\.txt.*air_temperature_c"):
        scenario.full_scene()


@pytest.mark.parametrize("place", ["earth", "mars", "moon"])
def test_places_have_their_air_gravity_and_field(place):
    scene = SceneTable(gravity=place)
    assert (scene.density(), scene.celsius()) == AIR[place]
    g = {"earth": 9.81, "mars": 3.73, "moon": 1.62}[place]
    assert scene.g() == pytest.approx(g, abs=0.03)
    assert bool(np.any(scene.field_n())) == (place == "earth")
