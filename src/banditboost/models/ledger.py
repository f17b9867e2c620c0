"""Which rounds have been learned: one bit for each, for the last sixteen million rounds."""

from __future__ import annotations

import numpy as np

from banditboost.io.values import UnreadableError
from banditboost.types import Array

REMEMBERED = 1 << 24
"""Rounds; older ones count as closed."""


class Ledger:
    """Refuses a second verdict for a round, in 2 MiB at most.

    Args:
        first: the round that its bits begin with; a branch of a model begins where it branched off.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self._bits = bytearray()
        self.opened = first
        self.room = -1  # rounds below this one may be opened without a call of `open_up_to`

    def open_up_to(self, rounds: int) -> None:
        """Have a bit for each round below `rounds`; bits of those that leave the window are used again."""
        needed = min((rounds - self.first >> 3) + 1, REMEMBERED >> 3)
        if needed > len(self._bits):
            self._bits.extend(bytes(max(needed, min(2 * len(self._bits), REMEMBERED >> 3)) - len(self._bits)))
        first = max(self.opened, self.first + REMEMBERED)
        if rounds - first >= REMEMBERED:
            self._bits[:] = bytes(REMEMBERED >> 3)
        elif rounds > first:
            fresh = np.arange(first - self.first, rounds - self.first) % REMEMBERED
            np.bitwise_and.at(
                np.frombuffer(self._bits, np.uint8), fresh >> 3, (~(1 << (fresh & 7))).astype(np.uint8)
            )
        self.opened, self.room = rounds, self.first + 8 * len(self._bits) - 1

    def refusal(self, round_: int, rounds: int) -> str:
        """Why a verdict for this one of so many rounds cannot be learned; empty if it can."""
        if not self.first <= round_ < rounds:
            return f"is not one of this model's {rounds} decisions; learn it with the model that made it"
        if round_ < rounds - REMEMBERED:
            return f"is too old: verdicts are taken for the last {REMEMBERED:,} rounds"
        place = (round_ - self.first) % REMEMBERED
        return (
            "was learned before; each verdict is learned once"
            if self._bits[place >> 3] & (1 << (place & 7))
            else ""
        )

    def close(self, round_: int, rounds: int) -> str:
        """Count the round as learned; if that is refused, why."""
        if self.first <= round_ < rounds <= round_ + REMEMBERED:
            place = (round_ - self.first) % REMEMBERED
            at, bit, bits = place >> 3, 1 << (place & 7), self._bits
            byte = bits[at]
            if not byte & bit:
                bits[at] = byte | bit
                return ""
        return self.refusal(round_, rounds)

    def reopen(self, round_: int) -> None:
        """It was not learned after all."""
        place = (round_ - self.first) % REMEMBERED
        self._bits[place >> 3] &= ~(1 << (place & 7))

    def mark_all(self, rounds: Array) -> None:
        places = (rounds[rounds >= self.opened - REMEMBERED] - self.first) % REMEMBERED
        np.bitwise_or.at(
            np.frombuffer(self._bits, np.uint8), places >> 3, (1 << (places & 7)).astype(np.uint8)
        )

    def to_array(self) -> Array:
        return np.frombuffer(bytes(self._bits), np.uint8)

    def restore(self, bits: Array, rounds: int) -> None:
        """Go on from stored bits."""
        past = rounds - self.first
        if past < 0 or (
            not min((past >> 3) + 1, REMEMBERED >> 3) <= len(bits) <= REMEMBERED >> 3 and (past or len(bits))
        ):
            raise UnreadableError(
                f"the ledger has {len(bits)} bytes, which does not fit {rounds} rounds; load an intact copy"
            )
        if (
            past < REMEMBERED
            and len(bits)
            and (bits[past >> 3] >> (past & 7) or bits[(past >> 3) + 1 :].any())
        ):
            raise UnreadableError("the ledger has verdicts of rounds to come; load an intact copy")
        self._bits, self.opened = bytearray(bits.tobytes()), rounds
        self.room = self.first + 8 * len(bits) - 1

    @property
    def memory_usage(self) -> int:
        return len(self._bits)
