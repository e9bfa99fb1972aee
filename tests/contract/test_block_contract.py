"""Every block of the package: state is a value, settings are apart from it, a step changes nothing."""

import pickle

import numpy as np
import pytest

from strapdown.environment.diagram import Port
from strapdown.environment.diagram.kinds import builtin
from strapdown.environment.diagram.running.schedule import resolved

DT = 0.004
STEPS = 30
KINDS = [(kind, shape) for kind in builtin().values() for shape in ((), (3,))]


def made(kind, shape, **parameters):
    """The block with its ports resolved to a shape, and its inputs and feeds step by step."""
    block = kind.make(parameters)

    def known(ports):
        return {name: Port(p.unit, p.frame, shape if p.shape is None else p.shape) for name, p in ports.items()}

    inputs = known(block.inputs)
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(STEPS):
        row = [rng.normal(size=p.shape) if p.shape else float(rng.normal()) for p in inputs.values()]
        row = [
            x / np.linalg.norm(x) if p.unit == "quaternion" else x for x, p in zip(row, inputs.values(), strict=True)
        ]
        feeds = getattr(block, "feeds", {}).values()
        rows.append(row + [rng.normal(size=np.shape(x)) if np.shape(x) else float(rng.normal()) for x in feeds])
    return resolved(block, inputs, known(block.outputs)), rows, known(block.outputs)


def stepped(block, state, rows):
    """States and outputs of the steps, as bits."""
    found = []
    for row in rows:
        early = block.output(state) if hasattr(block, "output") else None
        state, late = block.step(state, *row, dt=DT)
        found.append(pickle.dumps([np.asarray(x).tobytes() for x in (late if early is None else early)]))
    return state, found


@pytest.mark.parametrize(("kind", "shape"), KINDS, ids=lambda x: getattr(x, "name", str(x)))
def test_block(kind, shape):
    block, rows, outputs = made(kind, shape)
    # the same steps give the same bits
    middle, first = stepped(block, block.start(), rows[:10])
    kept = pickle.dumps((middle, rows))
    end, rest = stepped(block, middle, rows[10:])
    assert stepped(block, block.start(), rows)[1] == first + rest
    # a step changes neither its state nor its inputs, and a copied state continues to the bit
    assert pickle.dumps((middle, rows)) == kept
    copied, again = pickle.loads(kept)
    assert stepped(block, copied, again[10:])[1] == rest
    # another block with the same parameters continues it: no memory outside the state
    other, _, _ = made(kind, shape)
    assert stepped(other, middle, rows[10:])[1] == rest
    # outputs are finite and have the shapes of their ports
    values = block.output(end) if hasattr(block, "output") else block.step(end, *rows[0], dt=DT)[1]
    assert len(values) == len(outputs)
    for value, port in zip(values, outputs.values(), strict=True):
        assert np.shape(value) == port.shape and np.isfinite(value).all()
        assert isinstance(value, np.ndarray if port.shape else float)
