"""What a case is made from: random numbers out of bytes, so that a fuzzer that watches the coverage can choose them."""

from __future__ import annotations

import hashlib
import random
from typing import Any

SEED_BYTES = 8


class Luck(random.Random):
    """Random numbers that the bytes of a case say, as long as there are any; then those of its first 8 bytes.

    A random case is 8 bytes long. A guided one has more: a change of one of them changes one choice.
    """

    def __new__(cls, data: bytes) -> Luck:
        return super().__new__(cls, data[:SEED_BYTES])

    def __init__(self, data: bytes) -> None:
        super().__init__(data[:SEED_BYTES])
        self._data, self._at = data, SEED_BYTES

    def getrandbits(self, k: int) -> int:
        n_bytes = (k + 7) // 8
        if self._at + n_bytes > len(self._data):
            return super().getrandbits(k)
        said = int.from_bytes(self._data[self._at : self._at + n_bytes], "little")
        self._at += n_bytes
        return said & ((1 << k) - 1)

    def random(self) -> float:
        return super().random() if self._at + 4 > len(self._data) else self.getrandbits(32) / 2**32

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def some(self, items: Any, most: int) -> list[Any]:
        """Up to so many of them, each any number of times."""
        return [self.choice(items) for _ in range(self.randint(0, most))]


def random_case(seed: int, door: str, number: int) -> bytes:
    """The bytes of case number i: the same in every run with this seed."""
    return hashlib.sha256(f"{seed}-{door}-{number}".encode()).digest()[:SEED_BYTES]
