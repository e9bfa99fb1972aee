"""Random numbers are passed in: one seed for a run, and from it a separate stream for each name.

A stream depends on the seed and on its own names alone, so adding a sensor changes no other sensor's noise.
"""

import hashlib

import numpy as np

from strapdown.errors import InputError


def seed_of(seed: int, *names: str | int) -> np.random.SeedSequence:
    """The seed of one stream, as a value: using it twice gives the same numbers twice.

    Names go from the whole to the part, ("arm", "gyroscope"); a number names one of many runs.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}; give a whole number that is not negative")
    key: list[int] = []
    for name in names:
        # hashed one by one, so that ("ab", "c") is not ("a", "bc"); the kind counts, so that 1 is not "1"
        digest = hashlib.sha256(f"{'n' if isinstance(name, int) else 's'}:{name}".encode()).digest()
        key.extend(int.from_bytes(digest[k : k + 4], "little") for k in (0, 4, 8, 12))
    return np.random.SeedSequence(int(seed), spawn_key=tuple(key))


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """The random numbers of one sensor or instrument of a run: same seed and names, same bits."""
    return np.random.default_rng(seed_of(seed, *names))


def branch(source: np.random.Generator | np.random.SeedSequence, count: int) -> list[np.random.Generator]:
    """Independent streams derived from one. A seed is a value and gives the same branches each time; a generator
    continues.

    SFC64: the quickest of numpy's generators inside a kernel.
    """
    if isinstance(source, np.random.Generator):
        source = np.random.SeedSequence(source.integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    elif not isinstance(source, np.random.SeedSequence):
        raise InputError(f"stream is {source!r}; give a numpy Generator or SeedSequence, as from streams.stream()")
    below = (
        np.random.SeedSequence(source.entropy, spawn_key=(*source.spawn_key, k), pool_size=source.pool_size)
        for k in range(count)
    )
    return [np.random.Generator(np.random.SFC64(seed)) for seed in below]
