"""What the log says of three policies: the model's own, the first action of each request, and one by lot."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from banditboost.evaluation import PolicyValue
from banditboost.rewards import Range
from banditboost.serve.events import Activated, AnyEvent, Closed, Decided, Judged, decode
from banditboost.serve.store.base import StoredEvent
from banditboost.types import Array

ONLINE, BASELINE, RANDOM = "Online", "Baseline", "Random"
SOURCES = (ONLINE, BASELINE, RANDOM)
_COUNTED = ("learned", "logged")
Rows = dict[str, Array]
"""The columns of rows: those of a Row, and the rewards."""
_NOT_TOLD = math.nan  # the share of a policy that a row says nothing about
_options = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Row(NamedTuple):
    """A decision that has earned something: with which probability it was shown, and would have been."""

    at: float
    probability: float
    lot: float  # 1 if each action that could be shown had a chance, else 0
    online: float
    baseline: float
    random: float


class Summary(NamedTuple):
    """What is known of a policy from some rows."""

    at: float
    rows: int
    shown: int  # rows whose action the policy may show
    weights: float
    weighted_rewards: float
    squares: float
    estimate: float | None  # self-normalised; None if the rows do not tell it
    half_width: float  # of the Gaussian interval
    low: float
    high: float  # bounds that hold at any time


class Evaluator:
    """Reads a log in its order, and keeps a row for each decision that has earned something.

    Args:
        start, end: decisions of this time count, and what they have earned up to the end of what is read.
    """

    def __init__(self, start: float, end: float) -> None:
        self._start, self._end = start, end
        self.first: int | None = None
        """The number of the first event that counts."""
        self._open: dict[str, Row] = {}
        self._held: dict[str, float] = {}
        self._columns = [array("d") for _ in range(len(Row._fields) + 1)]

    def read(self, events: Iterable[StoredEvent]) -> None:
        """Go on with some events."""
        for stored in events:
            event = decode(stored.body)
            if isinstance(event, Decided):
                if self._start <= stored.at <= self._end:
                    self.first = self.first or stored.n
                    self._open[event.id] = row_of(event, stored.at)
            else:
                self._hear(event)

    def _hear(self, event: AnyEvent) -> None:
        if isinstance(event, Judged) and event.id in self._open:
            if event.outcome in _COUNTED:
                self._earned(event.id, event.reward)
            elif event.outcome == "held":
                self._held.setdefault(event.id, event.reward)
        elif isinstance(event, Activated) and event.outcome in _COUNTED:
            held = self._held.pop(event.id, None)
            if held is not None:
                self._earned(event.id, held)
        elif isinstance(event, Closed):
            self._held.pop(event.id, None)
            if event.reward is None:
                self._open.pop(event.id, None)
            else:
                self._earned(event.id, event.reward)

    def _earned(self, id_: str, reward: float) -> None:
        row = self._open.pop(id_, None)
        if row is not None:
            for column, number in zip(self._columns, (*row, reward), strict=True):
                column.append(number)

    def rows(self) -> Rows:
        """Decisions that have earned something, in the order in which they did."""
        names = (*Row._fields, "reward")
        return {name: np.array(column) for name, column in zip(names, self._columns, strict=True)}


def row_of(event: Decided, at: float) -> Row:
    """What a decision says of the three policies.

    Where a baseline chose, the ranking tells what the model would have done.
    """
    allowed = event.allowed or list(_options.decode(event.options or b"{}")) or [event.label]
    share, p, by_model = 1.0 / len(allowed), event.probability, event.arm == "model"
    return Row(
        at,
        p,
        float(by_model or math.isclose(p, share)),
        p if by_model else dict(event.ranking).get(event.label, _NOT_TOLD),
        float(event.label == allowed[0]),
        share,
    )


class Tally:
    """What is known of a policy from the rows so far: running sums.

    What a baseline shows without lot tells nothing of other actions. The bounds hold nevertheless, but there
    is no estimate, unless the policy would have shown the same in any case.
    """

    def __init__(self, source: str, rewards: Range) -> None:
        self._column = source.lower()
        self._value = PolicyValue(rewards)
        self._rows = self._shown = 0
        self._told = True
        self._weights = self._weighted = self._squares = 0.0

    def add(self, rows: Rows) -> None:
        """Go on with some rows; those that say nothing about the policy do not count."""
        asked = ~np.isnan(rows[self._column])
        shares, p, r, lot = (rows[name][asked] for name in (self._column, "probability", "reward", "lot"))
        self._value.add_many(r, p, shares)
        self._told &= bool(np.all((lot > 0.0) | (shares > 1.0 - 1e-9)))
        weights = shares / p
        self._rows += len(r)
        self._shown += int(np.count_nonzero(weights))
        self._weights += float(weights.sum())
        self._weighted += float((weights * r).sum())
        self._squares += float(((weights * r) ** 2).sum())

    def summary(self, at: float) -> Summary:
        """What is known now."""
        bounds, told = self._value.interval(), self._told and self._shown > 0
        gauss = self._value.interval("snips", "gaussian") if told else bounds
        return Summary(
            at,
            self._rows,
            self._shown,
            self._weights,
            self._weighted,
            self._squares,
            self._value.estimate("snips") if told else None,
            (gauss.high - gauss.low) / 2.0,
            bounds.low,
            bounds.high,
        )


def summary(rows: Rows, source: str, rewards: Range, at: float) -> Summary:
    """What all rows say of a policy."""
    tally = Tally(source, rewards)
    tally.add(rows)
    return tally.summary(at)


def series(rows: Rows, source: str, rewards: Range, ends: Sequence[float], *, rolling: bool) -> list[Summary]:
    """What is known at the ends of some intervals, which follow each other: from the rows of each, or from
    all so far. Intervals without rows are left out.
    """
    found, tally = [], Tally(source, rewards)
    places = np.searchsorted(ends, rows["at"])  # of the interval of each row
    for place in np.unique(places[places < len(ends)]):
        if rolling:
            tally = Tally(source, rewards)
        tally.add({name: column[places == place] for name, column in rows.items()})
        found.append(tally.summary(ends[place]))
    return found
