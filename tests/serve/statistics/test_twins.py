"""The statistics of a served model against their slow twin: every number, to the last bit."""

from __future__ import annotations

import json
import random

import msgspec
import pytest

from banditboost.inspection.changes import Change
from banditboost.serve.events import Settled
from banditboost.serve.statistics import ModelStatistics
from banditboost.serve.statistics.points import SPANS
from banditboost.serve.statistics.watching import LATENESS
from tests.naive import statistics as twin
from tests.serve.statistics.streams import Stream, watched

# Events in a second, in a minute and in a day: each span is filled by one of them.
STREAMS = [Stream(seed, n, pace) for seed, n, pace in [(1, 900, 0.1), (2, 900, 7.0), (3, 700, 20_000.0)]]


@pytest.mark.parametrize("stream", STREAMS)
def test_counts(stream: Stream) -> None:
    look = watched(stream).look("hour")
    assert look.counts == twin.counts(stream.events)
    assert look.lateness == twin.lateness(stream.events, LATENESS)
    lines = {label: list(msgspec.structs.astuple(line)) for label, line in look.lines.items()}
    assert lines == twin.lines(stream.events)


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("stream", STREAMS)
def test_points_of_time(stream: Stream, span: str) -> None:
    found = watched(stream).look(span).points
    expected = twin.points(stream.events, *SPANS[span])
    assert [point.start for point in found] == [start for start, _ in expected]
    for point, (_, events) in zip(found, expected, strict=True):
        *counts, earned, labels = twin.in_a_point(events)
        assert [point.decisions, point.explored, point.by_baseline, point.rewards] == counts
        assert point.earned == earned  # quarters, which are added without rounding
        assert point.labels == labels
        assert point.others == 0


@pytest.mark.parametrize("stream", STREAMS)
def test_comparisons_at_the_end_of_each_point(stream: Stream) -> None:
    for span in ("10 minutes", "day"):
        for point in watched(stream).look(span).points:
            end = point.start + SPANS[span][0]
            told = [event for event in stream.events if event[1] < end]
            labels = twin.since_change(told, "labels")[1]
            standing, chance = point.standing, twin.other(told, None)
            assert (standing.n, standing.sides) == twin.value(told)
            assert (standing.others_n, standing.others_earned) == chance[:2]
            assert standing.uniform == chance[2][0]
            assert standing.best == max(twin.other(told, label)[2][0] for label in labels)
            assert (standing.control_n, standing.control) == twin.control(told)
            assert (standing.baseline_n, standing.baseline) == twin.baseline(told)


@pytest.mark.parametrize("stream", STREAMS)
def test_comparisons_in_the_end(stream: Stream) -> None:
    found = watched(stream).look("hour").comparisons
    for place, constant in enumerate([None, *found.constants]):
        expected = twin.other(stream.events, constant)[2]
        assert tuple(found.others.sides[:, :2, place].ravel().tolist()) == expected


@pytest.mark.parametrize("stream", STREAMS)
def test_put_away_and_looked_at_in_between_all_is_the_same(stream: Stream) -> None:
    draw, made = random.Random(0), ModelStatistics()
    for told in stream.told:
        made.note(*told)
        if draw.random() < 0.02:
            made.look("day")
        if draw.random() < 0.02:
            made = ModelStatistics.from_plain(json.loads(json.dumps(made.to_plain())))
    assert json.dumps(made.to_plain()) == json.dumps(watched(stream).to_plain())


@pytest.mark.parametrize("stream", STREAMS)
def test_what_was_put_away_does_not_change_with_what_comes_later(stream: Stream) -> None:
    """A snapshot is written while the model goes on."""
    draw, made, kept = random.Random(1), ModelStatistics(), []
    for told in stream.told:
        made.note(*told)
        if draw.random() < 0.02:
            plain = made.to_plain()
            kept.append((plain, json.dumps(plain)))
    made.count()
    assert len(kept) > 3
    assert all(json.dumps(plain) == before for plain, before in kept)


def test_changes_are_told_in_the_order_of_the_log() -> None:
    """Whether the settings before them were counted by then or not."""
    marks = []
    for looks in (False, True):
        made = ModelStatistics()
        for control in (0.0, 0.5):
            settings = {"labels": ["a", "b"], "control": control, "rewards": (0.0, 1.0)}
            made.note(1.0, Settled(settings))
        if looks:
            made.look("hour")
        made.noticed(2.0, Change(number=1, verdicts=10, label="a"))
        marks.append([mark["kind"] for mark in made.to_plain()["marks"]])
    assert marks == [["settings", "change"]] * 2
