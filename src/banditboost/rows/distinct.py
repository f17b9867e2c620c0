"""How many different values there were, about, in a few hundred bytes: HyperLogLog.

Flajolet, Fusy, Gandouet and Meunier (2007). docs/data.md says how far off it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

REGISTERS = 256  # the standard error is 1.04 / 16, or 6.5 %
_SPREAD = 0x9E3779B97F4A7C15  # odd: numbers of 32 bits become numbers of 64 that are spread evenly
_ALPHA = 0.7213 / (1.0 + 1.079 / REGISTERS)


class Distinct:
    """Counts numbers of 32 bits, each once."""

    def __init__(self, registers: bytes = bytes(REGISTERS)) -> None:
        self._registers = bytearray(registers)

    def copy(self) -> Distinct:
        """A count that goes on apart."""
        return Distinct(bytes(self._registers))

    def add(self, number: int) -> None:
        """Count a number; twice is as once."""
        spread = (number + 1) * _SPREAD % (1 << 64)
        register, rest = spread >> 56, spread % (1 << 56)
        rank = 57 - rest.bit_length()
        if rank > self._registers[register]:
            self._registers[register] = rank

    def about(self) -> int:
        """How many there were."""
        mean = _ALPHA * REGISTERS * REGISTERS / sum(2.0**-rank for rank in self._registers)
        empty = self._registers.count(0)
        return round(REGISTERS * math.log(REGISTERS / empty) if empty and mean <= 2.5 * REGISTERS else mean)

    def hex(self) -> str:
        """For a file."""
        return self._registers.hex()


def is_stored(text: object) -> bool:
    """Whether this may be what `hex` gave."""
    if not isinstance(text, str) or len(text) != 2 * REGISTERS or not _is_hexadecimal(text):
        return False
    return all(rank <= 57 for rank in bytes.fromhex(text))


def _is_hexadecimal(letters: Iterable[str]) -> bool:
    return all(letter in "0123456789abcdef" for letter in letters)
