"""The memory of statistics does not grow, whatever comes."""

from __future__ import annotations

from banditboost.serve.events import Decided, Judged, Settled
from banditboost.serve.statistics import ModelStatistics
from banditboost.serve.statistics.labels import MOST_LABELS, LabelLines
from banditboost.serve.statistics.latest import MOST_BYTES, MOST_DECISIONS
from banditboost.serve.statistics.points import MOST_LABELS as MOST_IN_A_POINT
from banditboost.serve.statistics.points import MOST_LABELS_AT_ONCE, SPANS, Course, Point
from banditboost.serve.statistics.watching import BLOCK_BYTES, MOST_MARKS
from tests.serve.statistics.streams import Known


def decided(id: str, label: str | int, features: bytes = b"{}") -> Decided:
    return Decided(id, features, None, None, "model", label, 0.5, False, False, 60.0, "v")


def test_points_of_a_hundred_years_are_as_many_as_there_may_be() -> None:
    course = Course()
    for day in range(36_500):
        course.add(Point(day * 86_400, decisions=1))
    for span, (_, most) in SPANS.items():
        assert len(course.points(span, None)) <= most
    assert len(course.points("years", None)) == SPANS["years"][1]
    ends = [end for end, _ in course.history()]
    assert ends == sorted(ends)
    assert len(ends) < sum(most for _, most in SPANS.values())


def test_of_more_labels_than_a_point_keeps_the_rest_are_others() -> None:
    point = Point(0)
    for label in range(MOST_LABELS_AT_ONCE + 10):
        point.shown(label)
    assert (len(point.labels), point.others) == (MOST_LABELS_AT_ONCE, 10)
    point.shown(7)
    point.thin()
    assert list(point.labels) == [7, *(label for label in range(MOST_IN_A_POINT) if label != 7)]
    assert sum(point.labels.values()) + point.others == point.decisions


def test_a_label_that_was_not_shown_for_the_longest_time_loses_its_line() -> None:
    lines = LabelLines()
    for label in range(MOST_LABELS):
        lines.shown(label)
    lines.shown(0)
    lines.shown("new")
    assert 0 in lines.lines
    assert 1 not in lines.lines
    assert (len(lines.lines), lines.put_away) == (MOST_LABELS, 1)


def test_the_latest_decisions_are_few_and_short() -> None:
    statistics = ModelStatistics()
    for number in range(3 * MOST_DECISIONS):
        statistics.note(float(number), decided(str(number), "a", b'"' + b"x" * MOST_BYTES + b'"'))
    statistics.note(400.0, Judged("149", 1.0, "late"))
    statistics.note(400.0, Judged("3", 1.0, "late"))
    latest = statistics.look("hour").latest
    assert [told["id"] for told in latest] == [str(number) for number in range(100, 150)]
    assert all(told["cut"] and len(told["features"]) == MOST_BYTES for told in latest)
    assert [told["outcome"] for told in latest[-2:]] == [None, "late"]


def test_large_events_are_not_held() -> None:
    statistics = ModelStatistics()
    statistics.note(0.0, decided("1", "a", b"x" * BLOCK_BYTES))
    assert statistics.counts == {"decisions": 1}


def test_marks_are_the_last_ones() -> None:
    statistics = ModelStatistics()
    for number in range(MOST_MARKS + 5):
        settings = {"labels": ["a"], "rewards": [0, 1], "control": 0.0, "window": float(number)}
        statistics.note(float(number), Settled(settings))
    marks = statistics.look("hour").marks
    assert [mark["at"] for mark in marks] == [float(number) for number in range(5, MOST_MARKS + 5)]
    assert marks[0]["names"] == ["window"]


def test_what_was_learned_of_a_decision_stays() -> None:
    statistics = ModelStatistics()
    known = Known(0.0, "a", 0.5, "model", 2, 1.0)
    statistics.note(0.0, decided("1", "a"), known)
    statistics.note(1.0, Judged("1", 1.0, "learned"), known, 1.0)
    statistics.note(2.0, Judged("1", 0.0, "duplicate"), known)
    told = statistics.look("hour").latest[0]
    assert (told["outcome"], told["reward"], told["told"]) == ("learned", 1.0, 1.0)
