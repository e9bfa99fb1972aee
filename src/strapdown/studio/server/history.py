"""Earlier samples as one binary message: the answer to the command history."""

import math

from strapdown.errors import InputError
from strapdown.studio.messages import frame
from strapdown.studio.messages.commands import History
from strapdown.studio.server.samples import Places, Samples


def history_message(epoch: int, command: History, samples: Samples, places: Places) -> bytes:
    """Samples of the requested signals, and the poses of all bodies. InputError: a signal does not exist."""
    unknown = [name for name in command.signals if name not in places]
    if unknown:
        raise InputError(f'signal "{unknown[0]}" does not exist')
    t, rows, poses = samples.between(command.from_s, command.to_s, command.most_rows)
    spots = [places[name] for name in command.signals]
    head = frame.Head(
        epoch=epoch,
        sequence=command.id,
        t_s=float(t[-1]) if len(t) else 0.0,
        real_time_factor=0.0,
        speed=0.0,
        state=0,
        bodies=samples.bodies if command.poses else 0,
        rows=len(t),
        columns=sum(n for _, n in spots),
        take=command.take or 0,
        dropped=0,
        estimate=(math.nan,) * 7,
        console=(math.nan,) * len(frame.CONSOLE),
    )
    columns = [rows[:, a : a + n].tobytes() for a, n in spots]
    return frame.packed(frame.HISTORY, head, t.tobytes(), poses.tobytes() if command.poses else b"", columns)
