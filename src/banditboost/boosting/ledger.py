"""Which rounds have been learned: one bit for each, for the last sixteen million rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.io.values import UnreadableError

Array = np.ndarray[Any, Any]

WINDOW = 1 << 24


class Ledger:
    """Refuses a second verdict for a round, in 2 MiB at most; rounds older than the window count as closed."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self._opened = 0
        self.room = -1  # so many rounds may be opened before `open_up_to` has to be called

    def open_up_to(self, rounds: int) -> None:
        """Have a bit for each round below `rounds`; the bits of those that leave the window are used again."""
        needed = min((rounds >> 3) + 1, WINDOW >> 3)
        if needed > len(self._bits):
            self._bits.extend(bytes(max(needed, min(2 * len(self._bits), WINDOW >> 3)) - len(self._bits)))
        first = max(self._opened, WINDOW)
        if rounds - first >= WINDOW:
            self._bits[:] = bytes(WINDOW >> 3)
        elif rounds > first:
            fresh = np.arange(first, rounds) % WINDOW
            np.bitwise_and.at(np.frombuffer(self._bits, np.uint8), fresh >> 3, (~(1 << (fresh & 7))).astype(np.uint8))
        self._opened, self.room = rounds, 8 * len(self._bits) - 1

    def refusal(self, round_: int, rounds: int) -> str:
        """Why a verdict for this one of so many rounds cannot be learned; empty if it can."""
        if not 0 <= round_ < rounds:
            return f"is not one of this model's {rounds} decisions; load the model that made it"
        if round_ < rounds - WINDOW:
            return f"is too old: verdicts are taken for the last {WINDOW:,} rounds"
        place = round_ % WINDOW
        return "was learned before; each verdict is learned once" if self._bits[place >> 3] & (1 << (place & 7)) else ""

    def close(self, round_: int, rounds: int) -> str:
        """Count the round as learned; if that is refused, why."""
        if 0 <= round_ < rounds <= round_ + WINDOW:
            place = round_ % WINDOW
            at, bit, bits = place >> 3, 1 << (place & 7), self._bits
            byte = bits[at]
            if not byte & bit:
                bits[at] = byte | bit
                return ""
        return self.refusal(round_, rounds)

    def reopen(self, round_: int) -> None:
        """It was not learned after all."""
        place = round_ % WINDOW
        self._bits[place >> 3] &= ~(1 << (place & 7))

    def mark_all(self, rounds: Array) -> None:
        places = rounds[rounds >= self._opened - WINDOW] % WINDOW
        np.bitwise_or.at(np.frombuffer(self._bits, np.uint8), places >> 3, (1 << (places & 7)).astype(np.uint8))

    def to_array(self) -> Array:
        return np.frombuffer(bytes(self._bits), np.uint8)

    def restore(self, bits: Array, rounds: int) -> None:
        """Go on from stored bits."""
        if not min((rounds >> 3) + 1, WINDOW >> 3) <= len(bits) <= WINDOW >> 3 and (rounds or len(bits)):
            raise UnreadableError(f"the ledger has {len(bits)} bytes, which does not fit {rounds} rounds; load an intact copy")
        if rounds < WINDOW and len(bits) and (bits[rounds >> 3] >> (rounds & 7) or bits[(rounds >> 3) + 1 :].any()):
            raise UnreadableError("the ledger has verdicts of rounds to come; load an intact copy")
        self._bits, self._opened = bytearray(bits.tobytes()), rounds
        self.room = 8 * len(bits) - 1

    @property
    def memory_usage(self) -> int:
        return len(self._bits)
