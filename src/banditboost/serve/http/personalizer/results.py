"""Evaluations in the two forms that clients read."""

from __future__ import annotations

import datetime
import math
from typing import Any

import msgspec

from banditboost.rewards import Range
from banditboost.serve.http.personalizer.configuration import instant
from banditboost.serve.http.personalizer.evaluating import SOURCES, Rows, Summary, series, summary
from banditboost.serve.problems import ServiceError

MINUTES = (5, 60, 360, 720, 1440)
"""Lengths of intervals that a client may ask for."""
MOST_INTERVALS = 10_000


class Kept(msgspec.Struct, frozen=True):
    """An evaluation as it is kept: what was asked, and how much of the log it saw. The rest is made again."""

    name: str
    start: float
    end: float
    created: float
    first: int  # the number of the first event that counts
    last: int

    def details(self, id_: str, status: str) -> dict[str, Any]:
        """What both forms tell."""
        return {
            "id": id_,
            "name": self.name,
            "startTime": instant(self.start),
            "endTime": instant(self.end),
            "creationTime": instant(self.created),
            "status": status,
            "evaluationType": "Manual",
        }


class Span(msgspec.Struct, frozen=True):
    """Times and intervals of a series."""

    start: float
    end: float
    minutes: int
    rolling: bool

    def ends(self) -> list[float]:
        """Where the intervals end; refused if they are too many."""
        length = self.minutes * 60.0
        number = max(0, math.ceil((self.end - self.start) / length))
        if number > MOST_INTERVALS:
            raise ServiceError(
                422,
                "too-many-intervals",
                f"there are {number} intervals, and {MOST_INTERVALS} can be told; give a greater "
                f"intervalInMinutes, up to {MINUTES[-1]}, or a shorter time",
                field="intervalInMinutes",
            )
        return [min(self.start + i * length, self.end) for i in range(1, number + 1)]


def shortest(start: float, end: float) -> Span:
    """A series over a time in the shortest intervals that can be told."""
    most = (end - start) / MOST_INTERVALS / 60.0
    minutes = next((one for one in MINUTES if one >= most), math.ceil(most))
    return Span(start, end, minutes, rolling=True)


def first_form(id_: str, kept: Kept, rows: Rows, rewards: Range, arguments: str) -> dict[str, Any]:
    """As v1.0 and v1.1 tell it."""
    span = shortest(kept.start, kept.end)
    window = datetime.timedelta(minutes=span.minutes)
    results = [
        {
            "name": source,
            "arguments": arguments if source == SOURCES[0] else "",
            "policySource": source,
            "summary": [
                _first_summary(one, window)
                for one in series(rows, source, rewards, span.ends(), rolling=True)
            ],
            "totalSummary": _first_summary(summary(rows, source, rewards, kept.end), datetime.timedelta(0)),
        }
        for source in SOURCES
    ]
    return {
        **kept.details(id_, "completed"),
        "jobId": id_,
        "policyResults": results,
        "featureImportance": [],
        "optimalPolicy": None,
    }


def _first_summary(one: Summary, window: datetime.timedelta) -> dict[str, Any]:
    return {
        "timeStamp": instant(one.at),
        "ipsEstimatorNumerator": one.weighted_rewards,
        "ipsEstimatorDenominator": one.rows,
        "snipsEstimatorDenominator": one.weights,
        "aggregateTimeWindow": window,
        "nonZeroProbability": one.shown,
        "sumOfSquares": one.squares,
        "confidenceInterval": one.half_width,
        "averageReward": one.estimate,
    }


def latest_form(
    id_: str, kept: Kept, rows: Rows, rewards: Range, arguments: str, span: Span
) -> dict[str, Any]:
    """As 2022-09-01-preview tells it."""
    results = [
        {
            "name": source,
            "slotId": "",
            "arguments": arguments if source == SOURCES[0] else "",
            "policySource": source,
            "summary": _latest_summary(summary(rows, source, rewards, kept.end)),
            "timeseries": {
                "data": [
                    {"timeStamp": instant(one.at), **_latest_summary(one)}
                    for one in series(rows, source, rewards, span.ends(), rolling=span.rolling)
                ]
            },
        }
        for source in SOURCES
    ]
    content = {
        "startTime": instant(span.start),
        "endTime": instant(span.end),
        "intervalInMinutes": span.minutes,
        "value": results,
    }
    return {**kept.details(id_, "Succeeded"), "optimalPolicy": None, "content": content, "description": ""}


def _latest_summary(one: Summary) -> dict[str, Any]:
    return {"expectedReward": one.estimate, "confidenceInterval": [one.low, one.high]}
