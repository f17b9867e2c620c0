"""Which rounds have been learned: one bit for each, for the last sixteen million rounds."""

from __future__ import annotations

import numpy as np

from banditboost.compiled.compile import inlined
from banditboost.errors import DecisionError, LearnedBeforeError
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import UnreadableError
from banditboost.types import Array, Record

REMEMBERED = (1 << 24) - (1 << 16)
"""Rounds; older ones count as closed."""
AHEAD = 1 << 15
"""Rounds whose bits are made ready at once, after the ledger has reached its full size.

And as many rounds may be opened before they are decided (`play` does it): no bit of a round that can still be
learned is used again.
"""

_FIRST_SIZE = 256  # bytes: to grow takes a draft of the model


def _ring() -> int:
    """After how many rounds bits are used again: a power of two."""
    return REMEMBERED + 2 * AHEAD


@inlined
def is_open(settings: Record, bits: Array, rounds: int, round_: int) -> bool:
    """Whether one of so many rounds can be learned: it is not too old, and was not learned before."""
    if not settings.first_round <= round_ < rounds <= round_ + settings.remembered:
        return False
    place = (round_ - settings.first_round) & settings.ring
    learned: bool = bits[place >> 3] & (1 << (place & 7)) != 0
    return not learned


@inlined
def close_round(settings: Record, bits: Array, round_: int) -> None:
    """Count a round as learned.

    Compiled code does it in the call in which it learns: no exception comes between the two.
    """
    place = (round_ - settings.first_round) & settings.ring
    bits[place >> 3] |= 1 << (place & 7)


class Ledger:
    """Refuses a second verdict for a round, in 2 MiB at most.

    Args:
        first: the round that its bits begin with; a branch of a model begins where it branched off.
    """

    __slots__ = ("bits", "first", "opened", "room")

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.bits = np.zeros(0, np.uint8)
        self.opened = first
        self.room = -1  # rounds below this one have a bit

    def write(self, settings: Record) -> None:
        """Tell compiled code which bit is whose."""
        settings.first_round, settings.remembered, settings.ring = self.first, REMEMBERED, _ring() - 1

    def opened_up_to(self, rounds: int) -> Ledger:
        """A ledger with a bit for each round below `rounds`; those that leave the window are used again."""
        made = Ledger(self.first)
        made.opened, made.room, made.bits = max(rounds, self.opened), self.room, self.bits
        if rounds <= self.room:
            return made
        made.bits = np.zeros(self._size_for(rounds), np.uint8)
        made.bits[: len(self.bits)] = self.bits
        is_growing = rounds < self.first + _ring()
        made.room = self._room_with(made.bits) if is_growing else min(rounds + AHEAD, MOST_ROUNDS)
        made._clear(max(self.room, self.first + _ring()), made.room)
        return made

    def _clear(self, first: int, end: int) -> None:
        """Bits of these rounds belonged to others, which have left the window."""
        ring = _ring()
        if end - first >= ring:
            self.bits[:] = 0
        elif end > first:
            fresh = np.arange(first - self.first, end - self.first) % ring
            np.bitwise_and.at(self.bits, fresh >> 3, (~(1 << (fresh & 7))).astype(np.uint8))

    def _bytes_for(self, rounds: int) -> int:
        """As many as a file needs: one bit more than there are rounds, and all of the ring at most."""
        return min((rounds - self.first >> 3) + 1, _ring() >> 3)

    def _size_for(self, rounds: int) -> int:
        """Bytes with room for more rounds: it doubles."""
        return min(max(_FIRST_SIZE, 1 << (self._bytes_for(rounds) - 1).bit_length()), _ring() >> 3)

    def _room_with(self, bits: Array) -> int:
        return min(self.first + 8 * len(bits) - 1, MOST_ROUNDS)

    def check(self, round_: int, rounds: int) -> None:
        """Refuse a verdict that cannot be learned for this one of so many rounds."""
        what = f"the decision of round {round_}"
        if not self.first <= round_ < rounds:
            raise DecisionError(
                f"{what} is not one of this model's {rounds} decisions: it was made by a copy, or after the"
                " file was saved that this model was loaded from; learn it with the model that made it"
            )
        if round_ < rounds - REMEMBERED:
            raise DecisionError(f"{what} is too old: verdicts are taken for the last {REMEMBERED:,} rounds")
        place = (round_ - self.first) % _ring()
        if self.bits[place >> 3] & (1 << (place & 7)):
            raise LearnedBeforeError(f"{what} was learned before; each verdict is learned once")

    def close(self, round_: int) -> None:
        """Count a round as learned, whether it was before or not."""
        place = (round_ - self.first) % _ring()
        self.bits[place >> 3] |= 1 << (place & 7)

    def to_array(self, rounds: int) -> Array:
        """What a file keeps after so many rounds."""
        return self.bits[: self._bytes_for(rounds)].copy()

    def restore(self, bits: Array, rounds: int) -> None:
        """Go on from stored bits."""
        past = rounds - self.first
        if past < 0 or (not self._bytes_for(rounds) <= len(bits) <= _ring() >> 3 and (past or len(bits))):
            raise UnreadableError(
                f"the ledger has {len(bits)} bytes, which does not fit {rounds} rounds; load an intact copy"
            )
        if past < _ring() and len(bits) and (bits[past >> 3] >> (past & 7) or bits[(past >> 3) + 1 :].any()):
            raise UnreadableError("the ledger has verdicts of rounds to come; load an intact copy")
        self.opened = rounds
        if len(bits):
            self.bits = np.zeros(max(self._size_for(rounds), len(bits)), np.uint8)
            self.bits[: len(bits)] = bits
            self.room = self._room_with(self.bits) if past < _ring() else rounds

    @property
    def memory_usage(self) -> int:
        return int(self.bits.nbytes)
