"""`model.summary()`: what a model has heard, how it does, and what it is made of, on one page."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from banditboost.inspection.accuracy import Account, Accuracy, is_graded, lately, since_the_start
from banditboost.inspection.changes import Change
from banditboost.inspection.tally import HEARD, WINDOW, logged_of
from banditboost.rewards import UNIT, Range, in_units
from banditboost.text import counted, visible
from banditboost.types import Array

_MOST_LABELS = 12  # lines of the table
_MOST_EXPERTS = 3
_MOST_TEXTS = 5
_MEBIBYTE = 1 << 20
_UNKNOWN = "alphas", "expert_weights", "trees", "word_places", "changes", "last_change"  # of some models


@dataclass(frozen=True)
class Trees:
    """The trees of a model, all together."""

    number: int
    leaves: int
    asleep: int
    """Leaves that the memory ceiling has put to sleep: they answer, but do not split."""
    full: bool
    """Whether the memory ceiling lets leaves split only where there is room left."""


@dataclass(frozen=True, repr=False)
class Summary:
    """What `model.summary()` returns.

    Printed, it is a page of plain text; `to_dict()` is the same as plain data.
    """

    kind: str
    n_labels: int
    rounds: int
    verdicts: int
    logged: int
    """Rows of logs that were learned; no other number here counts them."""
    logged_mean: float
    """What these rows earned on average: the value of the policy that wrote the log. NaN without any."""
    open_decisions: int
    """Decisions whose verdict was not learned: it may still come, or never."""
    rewards: Range
    """The least and the largest reward."""
    graded: bool
    """Whether all is told as mean rewards: the range is not (0, 1), or a reward was neither 0 nor 1."""
    total: Account
    recent: Account
    """How the model has done over the last 1,000 verdicts."""
    alphas: tuple[float, ...] | None
    """Weights of the learners, where there is one for each."""
    expert_weights: tuple[float, ...] | None
    """Probability of each expert (for GapBoost: weight of each prefix of the chains, then of narrow and wide
    regressions).
    """
    trees: Trees | None
    memory: int
    """Bytes held."""
    max_memory: int
    removed_labels: tuple[Hashable, ...]
    """Labels that are not shown any more."""
    texts: dict[str, tuple[Hashable, ...]]
    """Texts that came in numeric features, by feature: each is a value of the feature "... (text)"."""
    shared_values: dict[str, tuple[int, int]]
    """Of nominal features to which values came that had no place of their own: how many values have one now,
    and about how many have none, and share places.
    """
    word_places: tuple[int, int] | None
    """Places that names and words share: how many are in use, and how many there are."""

    changes: int | None
    """How many changes of the world were noticed, if the model looks for them."""
    last_change: Change | None

    @classmethod
    def of(cls, labels: Sequence[Hashable], tally: Array, rewards: Range = UNIT, **parts: Any) -> Summary:
        """The summary of a model that has heard what the tally says."""
        unknown = dict.fromkeys(_UNKNOWN)
        shown: dict[str, Any] = {**unknown, **parts}
        logged, earned = int(logged_of(tally)[:, 0].sum()), float(logged_of(tally)[:, 1].sum())
        return cls(
            n_labels=len(labels),
            verdicts=int(tally[HEARD]),
            logged=logged,
            logged_mean=in_units(earned / logged, rewards) if logged else math.nan,
            rewards=rewards,
            graded=rewards != UNIT or is_graded(tally),
            total=since_the_start(tally, labels, rewards),
            recent=lately(tally, labels, rewards),
            **shown,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data: dicts, lists, numbers, and the labels as they are; None where nothing is known yet."""
        data = asdict(self)
        for name, account in (("total", self.total), ("recent", self.recent)):
            data[name]["cost"] = account.cost
            data[name]["by_label"] = [
                {"label": label, **asdict(found)} for label, found in account.by_label.items()
            ]
        return _plain(data)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        table = _table(self.total, self.recent, self.graded, by_label=self.n_labels > 1)
        return "\n".join([self._first_line(), *table, *self._facts()])

    def _first_line(self) -> str:
        what = "reward" if self.graded else "verdict"
        heard = f"{counted(self.rounds, 'round')}, {counted(self.verdicts, what)}"
        return f"{self.kind}: {heard}, {self.open_decisions:,} open"

    def _facts(self) -> Iterator[str]:
        if self.verdicts:
            explored, cost = self._both("explored", ".1%"), self._both("cost", ".3f")
            heard, lost = ("rewards", "reward") if self.graded else ("verdicts", "accuracy")
            yield f"explored: {explored} of the {heard}, at a cost in {lost} of {cost}"
        if self.logged:
            told = counted(self.logged, "row")
            yield f"of logs: {told} learned, which earned {self.logged_mean:.3f} on average"
        if self.graded:
            low, high = self.rewards
            yield f"rewards: from {low:g} to {high:g}; intervals of their means are approximate"
        if self.removed_labels:
            yield f"removed: {self._removed()}"
        if self.alphas is not None:
            yield f"alphas: {len(self.alphas)}, from {min(self.alphas):.4g} to {max(self.alphas):.4g}"
        if self.expert_weights is not None:
            best = sorted(enumerate(self.expert_weights), key=lambda item: -item[1])[:_MOST_EXPERTS]
            yield f"experts: {len(self.expert_weights)}, the heaviest " + ", ".join(
                f"number {i} ({weight:.3f})" for i, weight in best
            )
        if self.changes is not None:
            yield f"changes of the world: {self._changes()}"
        if self.trees is not None:
            full = ", at the memory ceiling" if self.trees.full else ""
            leaves = f"{self.trees.leaves:,} leaves, {self.trees.asleep:,} asleep"
            yield f"trees: {self.trees.number:,} with {leaves}{full}"
        for name, texts in self.texts.items():
            some = ", ".join(_short(text) for text in texts[:_MOST_TEXTS])
            more = ", ..." if len(texts) > _MOST_TEXTS else ""
            yield f"{name}: numeric, but {counted(len(texts), 'text')} came, too: {some}{more}"
        for name, (own, shared) in self.shared_values.items():
            have = "1 value has a place" if own == 1 else f"{own:,} values have places"
            yield f"{name}: {have} of {'its' if own == 1 else 'their'} own, about {shared:,} share places"
        if self.word_places is not None:
            yield "names and words that share: {:,} of {:,} places in use".format(*self.word_places)
        yield f"memory: {_size(self.memory)} of at most {_size(self.max_memory)}"

    def _changes(self) -> str:
        last = self.last_change
        if last is None:
            return "none noticed"
        whose = "" if last.label is None else f" of {_short(last.label)}"
        return f"{self.changes:,} noticed, the last after {last.verdicts:,} verdicts: rewards{whose} fell"

    def _removed(self) -> str:
        names, more = (
            map(_short, self.removed_labels[:_MOST_LABELS]),
            len(self.removed_labels) - _MOST_LABELS,
        )
        return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")

    def _both(self, name: str, form: str) -> str:
        return f"{getattr(self.total, name):{form}} (lately {getattr(self.recent, name):{form}})"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / _MEBIBYTE:,.1f} MiB" if n_bytes >= _MEBIBYTE else f"{n_bytes / 1024:.0f} KiB"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item if key in ("label", "removed_labels") else _plain(item) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _table(total: Account, recent: Account, graded: bool, *, by_label: bool) -> list[str]:
    known = total.by_label if by_label else {}
    labels = sorted(known, key=lambda label: -known[label].verdicts)
    rows = [
        _row("all shown", total.shown, recent.shown),
        _row("greedy, estimated", total.greedy, recent.greedy),
    ]
    nothing = Accuracy.of(0, 0)
    rows += [
        _row(_short(label), total.by_label[label], recent.by_label.get(label, nothing))
        for label in labels[:_MOST_LABELS]
    ]
    many, mean = ("rewards", "mean") if graded else ("verdicts", "right")
    heads = ["label", *[many, mean, "95 % interval"] * 2]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    half = sum(widths[1:4]) + 4
    lines = [
        " " * widths[0] + f"  {'since the start':>{half}}  {f'last {WINDOW:,} {many}':>{half}}",
        _line(heads, widths),
    ]
    lines += [_line(row, widths) for row in rows]
    return lines + ([f"and {len(labels) - _MOST_LABELS:,} more labels"] if len(labels) > _MOST_LABELS else [])


def _row(name: str, *found: Accuracy) -> list[str]:
    cells = [name]
    for one in found:
        interval = f"{one.low:.3f} to {one.high:.3f}" if one.verdicts else "-"
        cells += [f"{one.verdicts:,.0f}", f"{one.share:.3f}" if one.verdicts else "-", interval]
    return cells


def _short(label: Hashable) -> str:
    text = visible(label)
    return text if len(text) <= 24 else text[:23] + "…"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)])
