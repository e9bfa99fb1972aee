"""The protocol: commands are checked, frames can be read again, and the TypeScript types are up to date."""

from pathlib import Path

import numpy as np
import pytest

from strapdown.errors import InputError
from strapdown.studio.messages import frame
from strapdown.studio.messages.commands import MOST_TEXT, command_from
from strapdown.studio.messages.typescript import typescript

ROOT = Path(__file__).parents[2]


def test_the_typescript_types_are_those_of_the_models():
    assert (ROOT / "web/src/messages.ts").read_text(encoding="utf-8") == typescript()


def test_a_frame_can_be_read_again():
    rng = np.random.default_rng(1)
    times = np.sort(rng.random(5))
    poses, samples = rng.random((3, 7)).astype("<f4"), rng.random(5 * 4).astype("<f4")
    head = frame.Head(7, 2**32 - 1, 12.5, 0.5, 2.0, 0b1011, 3, 5, 4, 2, 9, tuple(range(7)), tuple(range(10)))
    message = frame.packed(frame.FRAME, head, times.tobytes(), poses.tobytes(), [samples.tobytes()])
    found = frame.unpacked(message)
    assert found.kind == frame.FRAME and found.head == head
    np.testing.assert_array_equal(found.times, times)
    np.testing.assert_array_equal(found.poses, poses)
    np.testing.assert_array_equal(found.samples, samples)


def test_times_and_floats_of_a_frame_are_aligned():
    """A typed array of the browser needs offsets that are multiples of its element size."""
    sizes = {"B": 1, "H": 2, "I": 4, "f": 4, "d": 8}
    places = frame.offsets()
    assert frame.HEADER_BYTES % 8 == 0
    for place in frame.HEADER:
        assert places[place.name] % sizes[place.code] == 0, place


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "JSON"),
        ("[]", "object"),
        ('{"type": "fly"}', "fly"),
        ('{"type": "run"}', "on"),
        ('{"type": "run", "on": true, "more": 1}', "more"),
        ('{"type": "speed", "factor": 1e9}', "factor"),
        ('{"type": "sticks", "roll": NaN}', "roll"),
        ('{"type": "push", "link": "body", "force_n": [1, 2]}', "force_n"),
        ("[" * 5000 + "]" * 5000, ""),
        ('{"type": "introduce", "name": "' + "x" * MOST_TEXT + '"}', "characters"),
    ],
)
def test_a_bad_command_is_one_sentence(text, word):
    with pytest.raises(InputError) as error:
        command_from(text)
    assert word in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 500


def test_a_good_command_is_read():
    assert command_from('{"type": "console", "changes": {"power": true}, "id": 3}').changes == {"power": True}
