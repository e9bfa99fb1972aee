"""strapdown reproduce B sensors."""

import json

from helpers import command


def test_all_claims_of_the_sensors_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = command("reproduce", "B", "sensors", "--json", "-o", "out")
    document = json.loads(said.out)
    assert said.code == 0
    assert [claim["id"] for claim in document["claims"] if not claim["holds"]] == []
    ids = {claim["id"] for claim in document["claims"]}
    assert {f"B-sensors/{term}/{rate}Hz" for term in "NBK" for rate in (50, 200, 1000)} <= ids
    assert sum(name.startswith("B-sensors/defect/") for name in ids) == 9
    assert (tmp_path / "out" / "B_sensor_errors.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_experiments_and_foreign_options_are_refused():
    assert command("reproduce", "B", "flying").code == 2
    assert "valid names: sensors, orientation" in command("reproduce", "B", "flying").err
    assert command("reproduce", "B", "--recorded", ".").code == 2
