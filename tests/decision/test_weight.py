"""A stored decision costs what it weighs, whatever it claims."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, Decision, schedules
from banditboost.distribution import distribution, is_possible
from banditboost.errors import DecisionError
from banditboost.memo import PROBABILITY, SHOWN
from tests.boosting.forged import forged
from tests.decision.made import NAMES, model_and_decision

LITTLE = (
    1_000_000  # bytes; compression takes a third of it, a byte for each label claimed at least the double
)
CLAIMS = [2_000_000, 2**28, 2**31 - 1]


def peak_of(call: Callable[[], Any]) -> int:
    """The most memory that a call holds at once, beyond what there was."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def among(data: dict[str, Any], n_labels: int) -> dict[str, Any]:
    """A stored decision that claims to be made among so many labels, with a probability that fits."""
    memo = list(data["memo"])
    memo[1], memo[4] = memo[2], 1.0 - memo[5]
    return forged(data, labels=n_labels, memo=memo, label=data["greedy"])


def use(data: dict[str, Any], model: Any) -> None:
    """All that can be done with a stored decision."""
    decision = Decision.from_dict(data)
    assert decision.label == decision.greedy
    repr(decision)
    decision.to_dict()
    decision.to_token(b"k" * 16)
    assert 0.0 < decision.probability <= 1.0
    for look in (decision.distribution, lambda: decision.allowed, lambda: model.learn(decision, True)):
        with pytest.raises(DecisionError):
            look()
    with pytest.raises(DecisionError, match="labels, but 4 were given"):
        Decision.from_dict(data, model.labels[:4])


@pytest.mark.parametrize("n_labels", CLAIMS)
@pytest.mark.parametrize("name", ["AdaBandit", "by votes", "OptBandit", "BinBandit", "GapBoost"])
def test_labels_that_are_only_claimed_cost_nothing(name: str, n_labels: int) -> None:
    model, decision = model_and_decision(name)
    data = among(decision.to_dict(), n_labels)
    assert len(json.dumps(data)) < 1000
    use(data, model)
    assert peak_of(lambda: use(data, model)) < LITTLE


@pytest.mark.parametrize("name", NAMES)
def test_reading_takes_memory_by_the_length_of_what_is_read(name: str) -> None:
    """A megabyte in any one place: read or refused, with so many bytes for each character."""
    _, decision = model_and_decision(name)
    data = decision.to_dict()
    for key in data:
        for long in ("f" * 10**6, [1.5] * 10**5, {"$bytes": "00" * 10**5}, {"$int": "0x" + "f" * 10**6}):
            made = forged(data, **{key: long, "labels": 2**30})

            def read(made: dict[str, Any] = made) -> None:
                with pytest.raises(DecisionError) as refusal:
                    Decision.from_dict(made).distribution()
                assert len(str(refusal.value)) < 2000

            assert peak_of(read) < 64 * 10**6


def test_the_allowed_labels_are_as_long_as_they_are_written() -> None:
    _, decision = model_and_decision("allowed")
    data = forged(decision.to_dict(), labels=2**31 - 1, allowed="f" * 10**5)

    def read() -> None:
        with pytest.raises(DecisionError, match="no possible"):
            Decision.from_dict(data)

    assert peak_of(read) < 64 * 10**5


@pytest.mark.parametrize("allowed", [None, [1, 2, 4]], ids=["all", "some"])
def test_one_share_is_that_of_the_whole_distribution(allowed: list[int] | None) -> None:
    """To the last bit, for each label that could have been shown and for no other."""
    model = AdaBandit(range(5), n_learners=7, exploration=schedules.Divided(least=0.2), seed=3)
    draw = np.random.default_rng(4)
    indices = None if allowed is None else np.array(allowed)
    for _ in range(60):
        decision = model.decide(draw.normal(size=3), allowed)
        shares = distribution(decision._memo, 5, indices)
        assert shares is not None
        for label, share in enumerate(shares):
            memo = decision._memo.copy()
            memo[SHOWN], memo[PROBABILITY] = label, share
            assert is_possible(memo, 5, indices) == (allowed is None or label in allowed)
            memo[PROBABILITY] = np.nextafter(share, 1.0)
            assert not is_possible(memo, 5, indices)
        model.learn(decision, bool(draw.random() < 0.4))
