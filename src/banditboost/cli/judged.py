"""What `evaluate` has found, as plain data, as a table, and as the sentence that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from banditboost.text import counted, visible

if TYPE_CHECKING:
    from banditboost.evaluation import Evaluation
    from banditboost.experiments.sheets import Sheet
    from banditboost.logs import Health

LOGGED, UNIFORM, BEST = "the log itself", "all alike", "best label so far"
REFERENCES = {"logged": LOGGED, "uniform": UNIFORM, "best": BEST}
"""What learners are judged beside: what is typed, and how it is called in tables."""
NOTE = "Earns: of each row on average. As rows: as good as so many rows of the policy itself."


@dataclass(frozen=True)
class Judged:
    """An evaluation of a log, of which there are several ways to tell."""

    name: str
    labels: Sequence[Any]
    found: Evaluation
    health: Health
    saved: str | None = None

    @property
    def learners(self) -> list[str]:
        """The policies that are judged beside the references."""
        return [name for name in self.found.values if name not in REFERENCES.values()]

    @property
    def against(self) -> str:
        """The policy that the others are held against."""
        return self.found.against or LOGGED

    @property
    def title(self) -> str:
        return f"{self.name}: {counted(self.found.rows, 'row')}, {counted(len(self.labels), 'label')}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `--json`."""
        return {
            "log": self.name,
            "rows": self.found.rows,
            "labels": list(self.labels),
            "level": self.found.level,
            "against": self.against,
            "policies": [self._policy(name) for name in self.found.values],
            "verdict": self.verdict(),
            "health": self.health.to_dict(),
            "saved": self.saved,
        }

    def _policy(self, name: str) -> dict[str, Any]:
        found = self.found
        value, looks = found.values[name], found.looks[name]
        last = looks[-1] if looks else None
        return {
            "policy": name,
            "estimator": found.estimators[name],
            "value": value.estimate(found.estimators[name]),
            "low": None if last is None else last.low,
            "high": None if last is None else last.high,
            "ips": value.estimate("ips"),
            "snips": value.estimate("snips"),
            "ahead_low": None if last is None else last.ahead_low,
            "ahead_high": None if last is None else last.ahead_high,
            "better_since": found.better_since(name),
            "better_since_time": self._since(name),
            "effective_rows": value.effective_sample_size,
            "mean_weight": value.mean_weight,
            "remark": self.remark(name),
            "curve": [list(look) for look in looks],
        }

    def _since(self, name: str) -> str | None:
        """When it was first known that the policy is better, if the log tells times."""
        look = self.found.first_better(name)
        return None if look is None or look.time is None else str(look.time)

    def remark(self, name: str) -> str:
        """Why the bounds of a policy cannot be believed; empty if they can."""
        value, difference = self.found.values[name], self.found.differences[name]
        of_value = value.interval(self.found.estimators[name], "sequence", level=self.found.level).remark
        return of_value or difference.interval(level=self.found.level).remark

    def remarks(self) -> list[str]:
        """What has to be known before the table is believed: of the log, and of policies."""
        told = {name: self.remark(name) for name in self.found.values}
        return [*map(str, self.health.findings), *(f"{name}: {why}." for name, why in told.items() if why)]

    def sheet(self) -> Sheet:
        """The table of values."""
        from banditboost.experiments.sheets import Entry, Sheet

        header = (
            "Policy",
            "Earns",
            f"Bounds ({self.found.level:.0%})",
            f"Ahead of {'the log' if self.against == LOGGED else self.against} by",
            "Better since",
            "As rows",
        )
        rows = tuple(tuple(map(Entry, self._row(self._policy(name)))) for name in self.found.values)
        return Sheet("values", self.title, NOTE, header, rows, ())

    def _row(self, one: dict[str, Any]) -> tuple[str, ...]:
        bounds = "" if one["low"] is None else f"{one['low']:.4f} to {one['high']:.4f}"
        is_other = one["policy"] != self.against and one["low"] is not None
        ahead = f"{one['ahead_low']:.4f} to {one['ahead_high']:.4f}" if is_other else ""
        is_known = is_other and one["better_since"] is not None and not one["remark"]
        since = self._told_since(one) if is_known else ""
        return one["policy"], f"{one['value']:.4f}", bounds, ahead, since, f"{one['effective_rows']:,.0f}"

    def _told_since(self, one: dict[str, Any]) -> str:
        time, row = one["better_since_time"], f"row {one['better_since']:,}"
        return row if time is None else visible(time)

    def verdict(self) -> str:
        """Whether a learner is known to earn more, and how much. If there are several, the bounds are such
        that they hold for all of them together: so the best may be picked.
        """
        problem = next((one.what for one in self.health.findings if one.weight == "problem"), None)
        if problem is not None:
            return f"Mend the log first: {problem}. What is told of policies cannot be believed before."
        learners = [name for name in self.learners if name != self.against and not self.remark(name)]
        if not learners and any(map(self.remark, self.learners)):
            return "Mend the log first: the logged probabilities can hardly be right, since bounds cross."
        level = 1.0 - (1.0 - self.found.level) / max(1, len(learners))
        ahead = {name: self.found.differences[name].interval(level=level).low for name in learners}
        best = max(ahead, key=lambda name: ahead[name], default=None)
        if best is None or ahead[best] <= 0.0:
            return f"No learner is known to earn more than {self.against}: the log may be too short to tell."
        known = self._known(best) if len(learners) == 1 else ""  # looks do not hold for all of them together
        return f"{self._times(best, ahead[best])}: {ahead[best]:.4f} more at least{known}."

    def _known(self, name: str) -> str:
        """Since when it is known."""
        look, time = self.found.first_better(name), self._since(name)
        if look is None:
            return ""
        known = f", known after {counted(look.rows, 'row')}"
        return known if time is None else f"{known}, since {visible(time)}"

    def _times(self, name: str, ahead: float) -> str:
        """How many times as much, if rewards are such that this means anything."""
        found, other = self.found, self.against
        earned, told = found.values[other], found.estimators
        most = earned.interval(told[other], level=found.level).high
        if earned.rewards[0] < 0.0 or earned.estimate(told[other]) <= 0.0 or most <= 0.0:
            return f"{name} earns more than {other}"
        times = found.values[name].estimate(told[name]) / earned.estimate(told[other])
        return f"{name} earns {times:.1f} times as much as {other}, at least {1.0 + ahead / most:.1f} times"
