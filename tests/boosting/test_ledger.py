"""The ledger of learned rounds: a bit for each of the last ones, used again when they have left the
window.
"""

from __future__ import annotations

import numpy as np
import pytest

from banditboost import Decision, play
from banditboost.errors import ParameterError
from banditboost.models import ledger
from banditboost.models.settings import SETTINGS, new_record
from tests.boosting.rounds import STREAM, make, refused
from tests.boosting.states import difference, refusal
from tests.boosting.twins import DECIDERS

AHEAD = 16


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ledger, "REMEMBERED", 32)
    monkeypatch.setattr(ledger, "AHEAD", AHEAD)
    return 32


def test_rounds_older_than_the_window_are_closed(name: str, window: int) -> None:
    model = make(name)
    decisions = [model.decide(STREAM.X[t % 100]) for t in range(100)]
    message = refused(model, decisions[100 - window - 1], True)
    assert "too old" in message
    model.learn(decisions[100 - window], True)
    assert "once" in refused(model, decisions[100 - window], True)
    assert model.memory_usage < 10**6
    assert model._identity.ledger.memory_usage == (window + 2 * AHEAD) // 8


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


@pytest.mark.parametrize("n_rounds", [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 96, 200])
def test_ledger_against_a_set(n_rounds: int, window: int) -> None:
    book, learned, settings = ledger.Ledger(), set(), new_record(SETTINGS)
    book.write(settings)
    luck = np.random.default_rng(n_rounds)
    for t in range(n_rounds):
        if t >= book.room:
            book = book.opened_up_to(t + 1)
        for round_ in luck.integers(max(0, t + 1 - window), t + 1, 2).tolist():
            assert ledger.is_open(settings, book.bits, t + 1, round_) == (round_ not in learned)
            ledger.close_round(settings, book.bits, round_)
            learned.add(round_)
            assert "once" in refusal(book, round_, t + 1)
    for round_ in range(-1, n_rounds + 1):
        reason = refusal(book, round_, n_rounds)
        assert ("too old" in reason) == (0 <= round_ < n_rounds - window)
        assert ("not one of" in reason) == (round_ in (-1, n_rounds))
        can_be = max(0, n_rounds - window) <= round_ < n_rounds and round_ not in learned
        assert (reason == "") == can_be
        assert ledger.is_open(settings, book.bits, n_rounds, round_) == can_be
    stored = ledger.Ledger()
    stored.restore(book.to_array(n_rounds), n_rounds)
    rounds = range(n_rounds)
    assert [refusal(stored, t, n_rounds) for t in rounds] == [refusal(book, t, n_rounds) for t in rounds]


def test_many_rounds_at_once(window: int) -> None:
    """As `play` opens them."""
    book = ledger.Ledger().opened_up_to(10)
    book.close(3)
    book = book.opened_up_to(75)
    for round_ in (43, 50, 74):
        book.close(round_)
    assert [round_ for round_ in range(75 - window, 75) if refusal(book, round_, 75)] == [43, 50, 74]


def test_a_stream_longer_than_the_window(window: int) -> None:
    book = ledger.Ledger().opened_up_to(20)
    for round_ in range(20):
        book.close(round_)
    end = 20 + 3 * window
    book = book.opened_up_to(end)
    assert [round_ for round_ in range(end - window, end) if refusal(book, round_, end)] == []


def test_play_goes_around_the_window(name: str, window: int) -> None:
    """In one call, and equal to one round after the other."""
    n_rounds = 5 * window + 7
    X, y = STREAM.X[np.arange(n_rounds) % 100], STREAM.y[np.arange(n_rounds) % 100]
    model, by_hand = make(name), make(name)
    result = play(model, X, y)
    for x, right in zip(X, y.tolist(), strict=True):
        decision = by_hand.decide(x)
        by_hand.learn(decision, decision.label == right)
    assert result.learned == model.verdicts == n_rounds
    assert set(difference(model, by_hand)) <= {"ledger"}  # bits of rounds that are too old may differ
    books = model._identity.ledger, by_hand._identity.ledger
    for round_ in range(n_rounds):
        one, other = (refusal(book, round_, n_rounds) for book in books)
        assert one == other != ""


def test_a_play_that_stops_forgets_no_verdict(name: str, window: int) -> None:
    """Bits of rounds that can still be learned are not used again before their time."""
    model = make(name)
    play(model, STREAM.X[:70], STREAM.y[:70])
    decisions = [model.decide(x) for x in STREAM.X[: window - AHEAD]]
    for decision in decisions:
        model.learn(decision, True)

    def stop(_played: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(model, STREAM.X, STREAM.y, progress=stop)
    assert model.rounds == 70 + window
    for decision in decisions:
        assert "once" in refused(model, decision, True)


@pytest.mark.parametrize("delay", [32, 40])
def test_a_delay_longer_than_the_window_is_refused(window: int, delay: int) -> None:
    model = make("AdaBandit")
    with pytest.raises(ParameterError, match=rf"delay is {delay} rounds .* last {window} rounds"):
        play(model, STREAM.X, STREAM.y, delay=delay)
    play(model, STREAM.X, STREAM.y, delay=window - 1)
    assert model.verdicts == len(STREAM.X) - window + 1


def test_a_ledger_that_grows_leaves_the_one_before_as_it_was(window: int) -> None:
    book = ledger.Ledger().opened_up_to(window)
    book.close(1)
    before = book.bits.copy()
    book.opened_up_to(5 * window)
    assert np.array_equal(book.bits, before)
    assert "once" in refusal(book, 1, window)
