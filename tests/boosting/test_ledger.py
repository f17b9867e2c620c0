"""The ledger of learned rounds: a bit for each of the last ones, used again when they have left the
window.
"""

from __future__ import annotations

import numpy as np
import pytest

from banditboost import Decision
from banditboost.models import ledger
from tests.boosting.rounds import STREAM, make, refused
from tests.boosting.twins import DECIDERS


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ledger, "REMEMBERED", 32)
    return 32


def test_rounds_older_than_the_window_are_closed(name: str, window: int) -> None:
    model = make(name)
    decisions = [model.decide(STREAM.X[t % 100]) for t in range(100)]
    message = refused(model, decisions[100 - window - 1], True)
    assert "too old" in message
    model.learn(decisions[100 - window], True)
    assert "once" in refused(model, decisions[100 - window], True)
    assert model.memory_usage < 10**6
    assert model._identity.ledger.memory_usage == window // 8


def test_bits_are_used_again(name: str, window: int) -> None:
    """Three times around the window, every decision learned once, late, and refused the second time."""
    model = make(name)
    waiting: list[Decision] = []
    for t in range(3 * window):
        waiting.append(model.decide(STREAM.X[t % 100]))
        if len(waiting) > window - 5:
            decision = waiting.pop(0)
            model.learn(decision, True)
            assert "once" in refused(model, decision, True)
    assert model.verdicts == 3 * window - (window - 5)


@pytest.mark.parametrize("n_rounds", [0, 1, 7, 8, 9, 31, 32, 33, 64, 200])
def test_ledger_against_a_set(n_rounds: int, window: int) -> None:
    book, learned = ledger.Ledger(), set()
    luck = np.random.default_rng(n_rounds)
    for t in range(n_rounds):
        book.open_up_to(t + 1)
        for round_ in luck.integers(max(0, t + 1 - window), t + 1, 2).tolist():
            assert ("once" in book.close(round_, t + 1)) == (round_ in learned)
            learned.add(round_)
            assert "once" in book.refusal(round_, t + 1)
    for round_ in range(n_rounds):
        refusal = book.refusal(round_, n_rounds)
        assert ("too old" in refusal) == (round_ < n_rounds - window)
        assert (refusal == "") == (round_ >= n_rounds - window and round_ not in learned)
    assert "not one of" in book.refusal(n_rounds, n_rounds)
    assert "not one of" in book.refusal(-1, n_rounds)


def test_many_rounds_at_once(window: int) -> None:
    """As `play` opens and marks them."""
    book = ledger.Ledger()
    book.open_up_to(10)
    assert book.close(3, 10) == ""
    book.open_up_to(75)
    book.mark_all(np.array([2, 40, 43, 50, 74]))
    assert [round_ for round_ in range(75 - window, 75) if book.refusal(round_, 75)] == [43, 50, 74]


def test_a_stream_longer_than_the_window(window: int) -> None:
    book = ledger.Ledger()
    book.open_up_to(20)
    book.mark_all(np.arange(20))
    book.open_up_to(20 + 3 * window)
    assert [
        round_ for round_ in range(20 + 2 * window, 20 + 3 * window) if book.refusal(round_, 20 + 3 * window)
    ] == []
    book.mark_all(np.arange(20 + 3 * window))
    assert all(
        "once" in book.refusal(round_, 20 + 3 * window) for round_ in range(20 + 2 * window, 20 + 3 * window)
    )
