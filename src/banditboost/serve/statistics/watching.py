"""ModelStatistics: what is kept of a model's log for those who look at it."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, Protocol

from banditboost.inspection.changes import Change
from banditboost.serve.events import (
    Activated,
    AnyEvent,
    Closed,
    Decided,
    Judged,
    Replaced,
    Settled,
)
from banditboost.serve.messages import Label
from banditboost.serve.statistics.comparing import Comparisons, Rewarded
from banditboost.serve.statistics.labels import LabelLines, Line
from banditboost.serve.statistics.latest import MOST_DECISIONS, LatestDecisions
from banditboost.serve.statistics.points import FINEST, Course, Point, Standing, point_from

BLOCK = 256
"""Events that are held before they are counted."""
BLOCK_BYTES = 1 << 20
LATENESS = (0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0)
"""Seconds between a decision and its first verdict, where bars of the picture end; the last has no end."""
MOST_MARKS = 64
ARMS = ("model", "control", "baseline")
FIRST_VERDICTS = ("learned", "added", "held")
_FORMAT = 1


class WatchedDecision(Protocol):
    """What must be known of a decision when its events are told; it does not change."""

    @property
    def at(self) -> float: ...
    @property
    def label(self) -> Label: ...
    @property
    def probability(self) -> float: ...
    @property
    def arm(self) -> str: ...
    @property
    def choices(self) -> int:
        """How many labels could have been shown."""
        ...

    @property
    def assigned(self) -> float:
        """The probability that this arm decides: the control group's share, or 1 minus it; 1 without one."""
        ...


_Told = tuple[float, Any, WatchedDecision | None, float | None, bool]
"""What `note` takes."""


class Look(NamedTuple):
    """A model's statistics at one moment."""

    settings: dict[str, Any]
    counts: dict[str, int]
    arms: dict[str, int]
    lateness: list[int]
    marks: list[dict[str, Any]]
    lines: dict[Label, Line]
    latest: list[dict[str, Any]]
    points: list[Point]
    history: list[tuple[float, Standing]]
    comparisons: Comparisons
    since: tuple[float, float]  # of chance and the constants, and of the control group


class ModelStatistics:
    """Counts, comparisons and the course of time of one model.

    All events of the log are told in their order. Whether they are counted one by one or in blocks, and
    whether the statistics were put away in between, makes no difference, to the last bit.
    """

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.counts: dict[str, int] = {}
        self.arms = dict.fromkeys(ARMS, 0)
        self.lateness = [0] * (len(LATENESS) + 1)
        self.marks: deque[dict[str, Any]] = deque(maxlen=MOST_MARKS)
        self.lines, self.latest, self.course = LabelLines(), LatestDecisions(), Course()
        self.comparisons = Comparisons((), (0.0, 1.0), 0.0)
        self.at = self.compared_since = self.control_since = 0.0
        self.under_way: Point | None = None
        self._held: list[_Told] = []
        self._bytes = 0
        self._rows: list[Rewarded] = []
        self._over: list[tuple[Point, int]] = []  # points that are over, and how many rows came before

    def note(
        self,
        at: float,
        event: AnyEvent,
        decision: WatchedDecision | None = None,
        learned: float | None = None,
        clipped: bool = False,
    ) -> None:
        """An event of the log.

        Args:
            at: when, in seconds since 1970.
            event: as the log has it.
            decision: that which it is about, as far as it is known.
            learned: the reward that the model learns with this event, if it learns one.
            clipped: whether that is a sum which was beyond the range of the rewards.
        """
        self._held.append((at, event, decision, learned, clipped))
        if type(event) is Decided:
            self._bytes += len(event.features)
        if len(self._held) >= BLOCK or self._bytes >= BLOCK_BYTES:
            self.count()

    def noticed(self, at: float, change: Change) -> None:
        """The model has noticed a change, after all events that were told before."""
        self.count()
        self.marks.append({"at": at, "kind": "change", "label": change.label, "verdicts": change.verdicts})

    def count(self) -> None:
        """Count what is held."""
        held, self._held, self._bytes = self._held, [], 0
        decided = [(at, event) for at, event, *_ in held if type(event) is Decided]
        for at, event in decided[-MOST_DECISIONS:]:
            self.latest.add(at, event)
        for at, event, decision, learned, clipped in held:
            self.at = at
            point = self._point(at)
            _COUNTERS[type(event)](self, point, event, decision)
            if learned is not None:
                assert decision is not None
                self._learn(point, decision, learned, clipped)
        self._compare()

    def _point(self, at: float) -> Point:
        start = int(at) - int(at) % FINEST
        point = self.under_way
        if point is None or point.start != start:
            if point is not None:
                self._over.append((point, len(self._rows)))
            point = self.under_way = Point(start)
        return point

    def _compare(self) -> None:
        """Take in the rows of a block, and put away the points that are over."""
        standings = self.comparisons.add(self._rows, [mark for _, mark in self._over])
        for (point, _), standing in zip(self._over, standings, strict=True):
            point.standing = standing
            self.course.add(point)
        self._rows, self._over = [], []

    def _counted(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def _decided(self, point: Point, event: Decided, _: WatchedDecision | None) -> None:
        self._counted("decisions")
        self.arms[event.arm] += 1
        if event.explored:
            self._counted("explored")
            point.explored += 1
        point.by_baseline += event.arm != "model"
        point.shown(event.label)
        self.lines.shown(event.label)

    def _judged(self, _: Point, event: Judged, decision: WatchedDecision | None) -> None:
        self._counted(event.outcome)
        self.latest.tell(self.at, event.id, event.outcome, event.reward)
        if decision is not None and event.outcome in FIRST_VERDICTS:
            self.lateness[bisect_right(LATENESS, self.at - decision.at)] += 1

    def _activated(self, _: Point, __: Activated, ___: WatchedDecision | None) -> None:
        self._counted("activated")

    def _closed(self, _: Point, event: Closed, __: WatchedDecision | None) -> None:
        outcome = "forgotten" if event.reward is None else "closed"
        self._counted(outcome)
        self.latest.tell(self.at, event.id, outcome, event.reward)

    def _learn(self, point: Point, decision: WatchedDecision, reward: float, clipped: bool) -> None:
        low, high = self.comparisons.rewards
        label, probability, by_model = decision.label, decision.probability, decision.arm == "model"
        share = (reward - low) / (high - low)
        self._counted("rewards")
        if clipped:
            self._counted("clipped")
        point.rewards += 1
        point.earned += share
        line = self.lines.lines.get(label)
        if line is not None:
            line.learn(share, probability, by_model)
        row = Rewarded(reward, label, probability, decision.choices, decision.assigned, by_model)
        self._rows.append(row)

    def _settled(self, _: Point, event: Settled, __: WatchedDecision | None) -> None:
        self._compare()
        before, now = self.settings, json.loads(json.dumps(event.settings))  # tuples are lists in files
        self.settings = now
        if not before or before["rewards"] != now["rewards"]:
            self.comparisons = _comparisons(now)
            self.compared_since = self.control_since = self.at
        if before and before["labels"] != now["labels"]:
            self.comparisons.set_labels(now["labels"])
            self.compared_since = self.at
        if before and before["control"] != now["control"]:
            self.comparisons.set_control(now["control"])
            self.control_since = self.at
        changed = sorted(name for name in now if before and before.get(name) != now[name])
        if changed:
            self.marks.append({"at": self.at, "kind": "settings", "names": changed})

    def _replaced(self, _: Point, event: Replaced, __: WatchedDecision | None) -> None:
        self.marks.append({"at": self.at, "kind": "replaced", "why": event.why})

    def look(self, span: str) -> Look:
        """All that `show` needs; later events do not change it."""
        self.count()
        comparisons = self.comparisons
        points = self.course.points(span, self.under_way)
        if points:
            points[-1].standing = comparisons.standing()
        return Look(
            self.settings,
            dict(self.counts),
            dict(self.arms),
            list(self.lateness),
            [*self.marks],
            {label: copy(line) for label, line in self.lines.lines.items()},
            [dict(told) for told in self.latest.decisions.values()],
            points,
            [*self.course.history(), (self.at, comparisons.standing())] if comparisons.share else [],
            comparisons.copy(),
            (self.compared_since, self.control_since),
        )

    def to_plain(self) -> dict[str, Any]:
        """All of it as dicts, lists, texts and numbers."""
        self.count()
        return {
            "format": _FORMAT,
            "settings": self.settings,
            "counts": dict(self.counts),
            "arms": dict(self.arms),
            "lateness": list(self.lateness),
            "marks": list(self.marks),
            "lines": self.lines.to_plain(),
            "latest": self.latest.to_plain(),
            "course": self.course.to_plain(),
            "comparisons": self.comparisons.to_plain(),
            "times": [self.at, self.compared_since, self.control_since],
            "under_way": None if self.under_way is None else self.under_way.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> ModelStatistics:
        """Go on from what `to_plain` gave."""
        made = cls()
        made.settings = plain["settings"]
        made.counts, made.arms = dict(plain["counts"]), dict(plain["arms"])
        made.lateness = list(plain["lateness"])
        made.at, made.compared_since, made.control_since = plain["times"]
        made.marks.extend(plain["marks"])
        for part in ("lines", "latest", "course"):
            getattr(made, part).restore(plain[part])
        if made.settings:
            made.comparisons = _comparisons(made.settings)
        made.comparisons.restore(plain["comparisons"])
        made.under_way = None if plain["under_way"] is None else point_from(plain["under_way"])
        return made


def _comparisons(settings: dict[str, Any]) -> Comparisons:
    low, high = settings["rewards"]
    return Comparisons(settings["labels"], (low, high), settings["control"])


_COUNTERS: dict[type, Callable[[ModelStatistics, Point, Any, WatchedDecision | None], None]] = {
    Settled: ModelStatistics._settled,
    Decided: ModelStatistics._decided,
    Judged: ModelStatistics._judged,
    Activated: ModelStatistics._activated,
    Closed: ModelStatistics._closed,
    Replaced: ModelStatistics._replaced,
}
