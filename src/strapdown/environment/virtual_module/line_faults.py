"""Faults of a bad line: some bytes are lost, flipped, inserted; others are delayed and come in a burst."""

from dataclasses import dataclass

import numpy as np

from strapdown.errors import InputError

KINDS = ("lost", "flipped", "inserted", "burst")


@dataclass
class LineFaults:
    """Faults of a serial line.

    lost, flipped, inserted: part of the bytes, 0 to 1.
    burst: number of bytes that are delayed and then sent together.
    """

    lost: float = 0.0
    flipped: float = 0.0
    inserted: float = 0.0
    burst: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._held = b""

    @classmethod
    def of(cls, texts: list[str], seed: int = 0) -> "LineFaults":
        """Faults from a text such as "lost=0.01"."""
        found: dict[str, float] = {}
        for text in texts:
            name, _, number = text.partition("=")
            try:
                value = float(number)
            except ValueError:
                value = -1.0
            if name not in KINDS or not 0.0 <= value <= (1e6 if name == "burst" else 1.0):
                raise InputError(f'fault "{text}" is not known; give lost, flipped, inserted (0 to 1) or burst (bytes)')
            found[name] = value
        return cls(**found, seed=seed)

    def __call__(self, data: bytes) -> bytes:
        if data and (self.lost or self.flipped or self.inserted):
            array = np.frombuffer(data, dtype=np.uint8).copy()
            hit = self._rng.random(len(array)) < self.flipped
            array[hit] ^= np.uint8(1) << self._rng.integers(0, 8, int(hit.sum()), dtype=np.uint8)
            array = array[self._rng.random(len(array)) >= self.lost]
            places = np.flatnonzero(self._rng.random(len(array)) < self.inserted)
            data = np.insert(array, places, self._rng.integers(0, 256, len(places))).tobytes()
        if self.burst:
            self._held += data
            if len(self._held) < self.burst:
                return b""
            data, self._held = self._held, b""
        return data
