"""`play` is decide and learn in a loop, with verdicts late or lost."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from banditboost import baselines, play
from tests.baselines.models import NAMES, make
from tests.boosting.states import difference
from tests.boosting.streams import growing_rows, make_stream

STREAM = make_stream("mixed", 3, 100)


def by_hand(model: Any, rows: Any, delay: int) -> list[Any]:
    waiting: list[Any] = []
    shown = []
    for x, y in zip(rows, STREAM.y.tolist(), strict=True):
        decision = model.decide(x)
        shown.append((decision.label, decision.greedy))
        waiting.append((decision, decision.label == y))
        if len(waiting) > delay:
            model.learn(*waiting.pop(0))
    return shown


ROWS: dict[str, Callable[[], Any]] = {
    "matrix": lambda: STREAM.X,
    "dicts": STREAM.dicts,
    "growing": lambda: growing_rows(STREAM),
}


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_play_is_the_loop(name: str, rows: str, delay: int) -> None:
    schema = STREAM.schema() if rows == "matrix" else None
    played, looped = make(name, range(3), schema), make(name, range(3), schema)
    result = play(played, ROWS[rows](), STREAM.y, delay=delay)
    assert by_hand(looped, ROWS[rows](), delay) == list(
        zip(result.shown.tolist(), result.greedy.tolist(), strict=True)
    )
    assert result.learned == 100 - delay
    assert difference(played, looped) == []


@pytest.mark.parametrize("name", NAMES)
def test_lost_verdicts(name: str) -> None:
    model = make(name, range(3), STREAM.schema())
    result = play(model, STREAM.X, STREAM.y, lost=0.5)
    assert 20 < result.learned == model.verdicts < 80
    assert result.edges is None


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("Random", "Majority")])
def test_what_looks_at_features_learns_from_them(name: str) -> None:
    """Two labels that a sign tells apart: all but the two that look at no features are right most of the
    time.
    """
    X = np.random.default_rng(7).normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(np.int64)
    assert play(make(name, range(2), exploration=0.1), X, y).greedy_accuracy > 0.75
    assert play(make("Majority", range(2), exploration=0.1), X, y).greedy_accuracy < 0.65


def test_every_example_of_the_page_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "baselines.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 3) == (0, True)
    assert all(f"**{name}" in page.read_text() or f", {name}" in page.read_text() for name in NAMES)


def test_names_are_found_when_asked_for() -> None:
    assert dir(baselines) == sorted(NAMES)
    assert all(getattr(baselines, name).__doc__ for name in NAMES)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        baselines.Nothing  # noqa: B018
