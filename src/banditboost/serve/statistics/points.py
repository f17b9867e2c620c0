"""The course of time in points: fine ones for the last minutes, coarse ones for the last years."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from banditboost.serve.messages import Label

SPANS = {
    "10 minutes": (10, 60),
    "hour": (60, 60),
    "day": (900, 96),
    "week": (7_200, 84),
    "quarter": (86_400, 90),
    "years": (604_800, 260),
}
"""What can be looked at: the seconds of a point, each a multiple of those before, and how many are kept."""
FINEST = 10
MOST_LABELS = 24  # of a point that is over
MOST_LABELS_AT_ONCE = 1_000  # of the point that is under way


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """How the comparisons stood when a point was over.

    A side is the total and the variance of an `evaluation.sequence.Sequence`, its lower bound's first.
    """

    n: int = 0  # rewards of the model's own decisions
    sides: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    others_n: int = 0
    others_earned: float = 0.0
    uniform: float = 0.0  # total of the lower side
    best: float = 0.0  # the same of the constant that is ahead of the others
    control_n: int = 0
    control: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    baseline_n: int = 0
    baseline: float = 0.0  # sum of shares


class Point(msgspec.Struct, array_like=True):
    """What happened in a stretch of time."""

    start: int  # seconds since 1970
    decisions: int = 0
    explored: int = 0
    by_baseline: int = 0  # decisions of the control group, or that an apprentice watched
    rewards: int = 0
    earned: float = 0.0  # as shares of the range
    labels: dict[Label, int] = {}
    others: int = 0  # decisions for labels that are not told one by one
    standing: Standing = Standing()

    def shown(self, label: Label) -> None:
        """A decision for this label."""
        self.decisions += 1
        count = self.labels.get(label)
        if count is None and len(self.labels) >= MOST_LABELS_AT_ONCE:
            self.others += 1
        else:
            self.labels[label] = (count or 0) + 1

    def thin(self) -> None:
        """Keep the labels that were shown most; of equals those that came first."""
        if len(self.labels) > MOST_LABELS:
            order = sorted(self.labels, key=self.labels.__getitem__, reverse=True)[:MOST_LABELS]
            kept = {label: self.labels[label] for label in order}
            self.others += sum(self.labels.values()) - sum(kept.values())
            self.labels = kept

    def to_plain(self) -> list[Any]:
        """As lists and numbers; JSON would make texts of labels that are numbers."""
        told: dict[str, Any] = {**msgspec.structs.asdict(self), "labels": [*map(list, self.labels.items())]}
        told["standing"] = list(msgspec.structs.astuple(self.standing))
        return [*told.values()]

    def merge(self, later: Point) -> None:
        """Add what happened in a later stretch."""
        self.decisions += later.decisions
        self.explored += later.explored
        self.by_baseline += later.by_baseline
        self.rewards += later.rewards
        self.earned += later.earned
        for label, count in later.labels.items():
            self.labels[label] = self.labels.get(label, 0) + count
        self.others += later.others
        self.standing = later.standing
        self.thin()


def starting(start: int, later: Point) -> Point:
    """A coarser point that begins with a finer one."""
    made = Point(start, labels={})
    made.merge(later)
    return made


def point_from(plain: list[Any]) -> Point:
    """Go on from what `to_plain` gave."""
    *counts, labels, others, standing = plain
    found: Standing = msgspec.convert(standing, Standing)
    fields = [*counts, dict(labels), others, found]
    return Point(*fields)


class Course:
    """The points of all spans. A point is added when it is over."""

    def __init__(self) -> None:
        self._spans: dict[str, deque[Point]] = {name: deque() for name in SPANS}

    def add(self, finest: Point) -> None:
        finest.thin()
        for points, (seconds, most) in zip(self._spans.values(), SPANS.values(), strict=True):
            _put(points, finest, seconds)
            while points[0].start <= finest.start - seconds * most:
                points.popleft()

    def points(self, span: str, under_way: Point | None) -> list[Point]:
        """Those of a span, the oldest first; stretches in which nothing happened are left out."""
        points, (seconds, most) = list(self._spans[span]), SPANS[span]
        if under_way is None:
            return points
        last = [starting(point.start, point) for point in points[-1:]]
        _put(last, starting(under_way.start, under_way), seconds)
        return [point for point in [*points[:-1], *last] if point.start > under_way.start - seconds * most]

    def history(self) -> Iterator[tuple[int, Standing]]:
        """When each point was over and how the comparisons stood, the oldest first, as fine as it is kept."""
        names, beginning = list(SPANS), math.inf
        found = []
        for name in names:
            seconds = SPANS[name][0]
            older = [point for point in self._spans[name] if point.start + seconds <= beginning]
            found.append([(point.start + seconds, point.standing) for point in older])
            beginning = self._spans[name][0].start if self._spans[name] else beginning
        return chain.from_iterable(reversed(found))

    def to_plain(self) -> dict[str, Any]:
        return {name: [point.to_plain() for point in points] for name, points in self._spans.items()}

    def restore(self, plain: dict[str, Any]) -> None:
        self._spans = {name: deque(map(point_from, plain[name])) for name in SPANS}


def _put(points: deque[Point] | list[Point], finer: Point, seconds: int) -> None:
    start = finer.start - finer.start % seconds
    if points and points[-1].start == start:
        points[-1].merge(finer)
    else:
        points.append(starting(start, finer))
