"""`check`: is a log fit to judge and to learn from? Each finding in words, with the remedy.

The tests tell p-values:

- *fit*: over all rows, 1 / p of an action's rows adds up to at most as many as there are rows, and to as
  many if it could always be shown. If it adds up to much more, its probabilities are too small. The p-value
  is Chernoff's bound for a binomial with the mean probability, widened by how unequal the probabilities are,
  times the number of actions: it is never too small if the probabilities are equal.
- *overlap*: if it adds up to much less, the action could not always be shown, or its probabilities are too
  large. Terms are 0, or from 1 to 1 / (the least probability of the log), and 1 in the mean; so the p-value
  is Chernoff's bound for the most spread of them. It is one if no probability was below the least in the log.
- *drift*: the shares of actions in 8 to 16 parts of the log, by the chi-square test.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from banditboost.logs.counting import EARNED, INVERSE, KNOWN, MOST_IDS, POSSIBLE, ROWS, SQUARES, Counted
from banditboost.logs.log import Block
from banditboost.text import counted, visible
from banditboost.types import Array

UNLIKELY = 1e-3  # a p-value below it is told as a finding
_FEW_EXPECTED = 5.0  # rows of an action in a part of the log: rarer actions are counted together
_FEW_EFFECTIVE = 100.0
_MOST_ACTIONS = 20  # lines of the table
Weight = Literal["problem", "warning"]


@dataclass(frozen=True)
class Finding:
    """Something wrong with a log.

    >>> from banditboost import logs
    >>> health = logs.check(logs.from_obp({"action": [0, 1], "reward": [0, 1]}))
    >>> [finding.weight for finding in health.findings]
    ['warning']
    >>> len(health.findings)
    1
    """

    weight: Weight
    """A problem must be repaired before anything is learned or judged; a warning must be known."""
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.weight}: {self.what}. {self.remedy}."


@dataclass(frozen=True)
class ActionHealth:
    """What a log tells of one action."""

    rows: int
    share: float
    mean_reward: float
    """NaN if no reward is known."""


@dataclass(frozen=True, repr=False)
class Health:
    """What `check` returns. Printed, it is a page of plain text; `to_dict()` is the same as plain data.

    >>> from banditboost import logs
    >>> health = logs.check(logs.from_obp({"action": [0, 1, 0, 0], "reward": [0, 1, 0, 1]}))
    >>> health.mean_reward
    0.5
    >>> health.actions[0].share
    0.75
    """

    n_rows: int
    actions: dict[Hashable, ActionHealth]
    """In the order of their first rows."""
    mean_reward: float
    """Of all rows with a reward: the value of the policy that wrote the log."""
    least_probability: float
    """NaN without probabilities, as the next two."""
    effective_sample_size: float
    """How many rows of a uniform policy would judge such a policy as well as these."""
    fit_p_value: float
    """How likely probabilities are that fit the shares so badly, if they are right."""
    drift_p_value: float
    """How likely shares are that change so much, if the policy stays the same; NaN of few rows."""
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether there is no problem; warnings there may be."""
        return not any(finding.weight == "problem" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: actions as a list, None in place of NaN."""
        data = asdict(self)
        data["actions"] = [{"action": action, **asdict(found)} for action, found in self.actions.items()]
        data["findings"] = [asdict(finding) for finding in self.findings]
        return {name: _plain(value) for name, value in data.items()}

    def __repr__(self) -> str:
        return "\n".join(
            [*self._facts(), "", *(map(str, self.findings) if self.findings else ["no findings"])]
        )

    def _facts(self) -> Iterator[str]:
        size = f"{counted(self.n_rows, 'row')}, {counted(len(self.actions), 'action')}"
        yield f"{size}, mean reward {_told(self.mean_reward)}"
        if self.least_probability == self.least_probability:
            yield f"probabilities: at least {self.least_probability:.3g}; fit p = {_told(self.fit_p_value)}"
            yield f"effective rows for a uniform policy: {self.effective_sample_size:,.0f}"
        if self.drift_p_value == self.drift_p_value:
            yield f"drift of the shares: p = {_told(self.drift_p_value)}"
        most = sorted(self.actions.items(), key=lambda item: -item[1].rows)
        width = max((len(_short(action)) for action, _ in most[:_MOST_ACTIONS]), default=0)
        for action, found in most[:_MOST_ACTIONS]:
            shown = f"{_short(action):<{width}}  {found.rows:>9,}  {found.share:7.2%}"
            yield f"  {shown}  {_told(found.mean_reward)}"
        if len(most) > _MOST_ACTIONS:
            yield f"  and {len(most) - _MOST_ACTIONS:,} more"


def check(log: Iterable[Block]) -> Health:
    """A report on the health of a log, in one pass and in bounded memory.

    >>> from banditboost import logs
    >>> told = {"action": [0, 1, 0], "reward": [0, 1, 0], "pscore": [0.5, 1.5, 0.5]}
    >>> health = logs.check(logs.from_obp(told))
    >>> health.is_good
    False
    >>> health.findings[0].what
    '1 row has a probability above 1, the first is row 2'
    >>> health.findings[0].remedy
    'Log what the action was drawn with; percent must be divided by 100'
    """
    counted_ = Counted()
    for block in log:
        counted_.add(block)
    fit, few = _fit(counted_)
    drift = _drift(counted_)
    sums = counted_.by_action
    n, known = counted_.n_rows, float(sums[:, KNOWN].sum())
    possible = bool(sums[:, POSSIBLE].sum())
    effective = float(sums[:, INVERSE].sum() ** 2 / sums[:, SQUARES].sum()) if possible else math.nan
    actions = {action: _action(sums[place], n) for action, place in counted_.places.items()}
    found = [
        *_of_rows(counted_),
        *_of_actions(counted_),
        *_of_probabilities(counted_, fit, few, effective),
        *_of_time(counted_, drift),
    ]
    return Health(
        n,
        actions,
        float(sums[:, EARNED].sum()) / known if known else math.nan,
        counted_.least_probability if possible else math.nan,
        effective,
        fit,
        drift,
        tuple(sorted(found, key=lambda finding: finding.weight != "problem")),
    )


def _action(sums: Array, n_rows: int) -> ActionHealth:
    rows, known = int(sums[ROWS]), float(sums[KNOWN])
    return ActionHealth(rows, rows / n_rows, float(sums[EARNED]) / known if known else math.nan)


# Tests


def _fit(told: Counted) -> tuple[float, float]:
    """P-values: of sums of 1 / p that are too large for any policy, and too small for one that may always
    show everything.
    """
    sums = told.by_action[told.by_action[:, POSSIBLE] > 0.0]
    n = told.by_action[:, POSSIBLE].sum()
    if not len(sums):
        return math.nan, math.nan
    large = [_chernoff(row, n) for row in sums if row[INVERSE] > n]
    small = [_seldom(row[INVERSE] / n, told.least_probability, n) for row in sums if row[INVERSE] < n]
    return min(1.0, len(sums) * min(large, default=1.0)), min(1.0, len(sums) * min(small, default=1.0))


def _chernoff(sums: Array, n: float) -> float:
    """How likely so many rows of an action are, if the mean of its probabilities is the harmonic one of those
    that were logged.
    """
    rows, inverse, squares = sums[POSSIBLE], sums[INVERSE], sums[SQUARES]
    p, q = rows / inverse, rows / n
    if p >= 1.0:
        return 1.0 if q >= 1.0 else 0.0
    uneven = max(1.0, (squares / inverse - 1.0) / (inverse / rows - 1.0))
    return math.exp(-n * _apart(q, p) / uneven)


def _seldom(mean: float, least: float, n: float) -> float:
    """How likely so small a mean of 1 / p is, if all can always be shown and no p is below the least."""
    return math.exp(-n * _apart(mean * least, least)) if least < 1.0 else 0.0


def _apart(q: float, p: float) -> float:
    """The divergence of a share q from a probability p that is neither 0 nor 1."""
    parts = ((q, p), (1.0 - q, 1.0 - p))
    return sum(share * math.log(share / chance) for share, chance in parts if share > 0.0)


def _drift(told: Counted) -> float:
    """Chi-square: are the shares of actions the same in all parts? Actions that are rare count together."""
    k = len(told.by_action)
    whole = told.windows[: told.n_rows // told.window]
    if len(whole) < 2 or k < 2:
        return math.nan
    table = np.array([np.append(counts, np.zeros(k - len(counts))) for counts in whole])
    often = table.sum(axis=0) / len(table) >= _FEW_EXPECTED
    table = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    table = table[:, table.sum(axis=0) / len(table) >= _FEW_EXPECTED]
    if table.shape[1] < 2:
        return math.nan
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return _chi_square_above(statistic, (len(table) - 1) * (table.shape[1] - 1))


def _chi_square_above(statistic: float, freedom: int) -> float:
    """P(chi-square > statistic), by Wilson and Hilferty: right to about 1e-3."""
    spread = 2.0 / (9.0 * freedom)
    z = ((statistic / freedom) ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2.0))


# Findings


def _of_rows(told: Counted) -> Iterator[Finding]:
    if not told.n_rows:
        yield Finding("problem", "the log has no rows", "Give a log with at least one")
    remedies = {
        "action": ("has no action", "Leave such rows out: nobody knows what was shown"),
        "reward": (
            "has no reward",
            "Leave such rows out, or give 0 if no answer means no reward (say so, it is a choice)",
        ),
        "probability missing": ("has no probability", "Log it with each decision; GapBoost learns without"),
        "probability not above 0": (
            "has a probability of 0 or below",
            "What has probability 0 is never shown: log what the action was drawn with, unrounded",
        ),
        "probability above 1": (
            "has a probability above 1",
            "Log what the action was drawn with; percent must be divided by 100",
        ),
        "id twice": ("has an id that came before", "Keep one row of each event: others count it twice"),
    }
    for name, (what, remedy) in remedies.items():
        fault = told.fault(name)
        if fault.n_rows:
            yield Finding(
                "problem", f"{_rows_with(fault.n_rows, what)}, the first is row {fault.first}", remedy
            )
    if len(told.ids) >= MOST_IDS:
        yield Finding(
            "warning",
            f"only the first {MOST_IDS:,} ids were looked at for one that comes twice",
            "Find others where the log is kept",
        )


def _rows_with(n: int, what: str) -> str:
    plural = what.replace("has ", "have ", 1) if n != 1 else what
    return f"{counted(n, 'row')} {plural}"


def _of_actions(told: Counted) -> Iterator[Finding]:
    if len(told.places) == 1:
        yield Finding(
            "warning",
            "only one action was ever shown",
            "A log tells nothing of what was not shown: let the policy show others, too",
        )
    low, high = told.rewards
    if low == high:
        yield Finding("warning", f"every reward is {low:g}", "Check that the column is the right one")


def _of_probabilities(told: Counted, fit: float, few: float, effective: float) -> Iterator[Finding]:
    if not told.has_probabilities:
        yield Finding(
            "warning",
            "the log tells no probabilities",
            "GapBoost learns without them; what another policy would have earned cannot be told without "
            "bias: log them from now on",
        )
    if told.least_probability == 1.0 and len(told.places) > 1:
        yield Finding(
            "warning",
            "every probability is 1: the policy drew nothing by chance",
            "Such a log cannot tell what another action would have earned on the same rows: explore a "
            "little, and log with what probability",
        )
    elif effective < min(_FEW_EFFECTIVE, told.n_rows):
        yield Finding(
            "warning",
            f"its rows judge a uniform policy no better than {effective:,.0f} rows of that policy would",
            "Judge policies that are close to the one that wrote the log, or explore more",
        )
    if fit < UNLIKELY:
        yield Finding(
            "problem",
            f"the probabilities are too small for how often actions were shown (p = {_told(fit)})",
            "Log the probability of the action that was shown, after all that changes it (filters, "
            "business rules, rounding)",
        )
    elif few < UNLIKELY and told.least_probability < 1.0:
        yield Finding(
            "warning",
            f"some action was shown less often than its probabilities say (p = {_told(few)})",
            "If every action could be shown in every row, the probabilities are wrong; if not, say with "
            "allowed=... which could. If it was far less likely in rows where it was not shown, little is "
            "known of it there",
        )


def _of_time(told: Counted, drift: float) -> Iterator[Finding]:
    earlier = told.fault("time before the one above")
    if earlier.n_rows:
        yield Finding(
            "warning",
            f"{counted(earlier.n_rows, 'row')} came before the one above, the first is row {earlier.first}",
            "Sort the log by time: a learner that goes along it would see the future",
        )
    if drift < UNLIKELY:
        yield Finding(
            "warning",
            f"the shares of actions change along the log (p = {_told(drift)})",
            "The policy was changed, or learned, or its visitors changed: probabilities must be those of the "
            "moment, and old rows may mislead",
        )


def _told(number: float) -> str:
    return "-" if number != number else f"{number:.3g}"


def _short(action: Hashable) -> str:
    text = visible(action)
    return text if len(text) <= 32 else text[:31] + "…"


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [{name: _plain(cell) for name, cell in item.items()} for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
