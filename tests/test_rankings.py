"""Orders of labels, and what clicks on lists say: in the mean, by enumeration, what the label is worth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import GapBoost
from banditboost.errors import BanditBoostError, DecisionError, ParameterError
from banditboost.rankings import cascade_rewards, order_of, position_rewards

EXAMINED = [0.9, 0.5, 0.25]
WORTH = {"a": 0.8, "b": 0.3, "c": 0.1, "d": 0.55}  # P(clicked | looked at)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=1, max_size=8), st.data())
def test_the_order_is_that_of_the_scores_then_of_the_labels(scores: list[float], data: st.DataObject) -> None:
    among = sorted(data.draw(st.sets(st.sampled_from(range(len(scores))), min_size=1)))
    first = data.draw(st.sampled_from([None, *among]))
    expected = sorted(among, key=lambda label: (label != first, -scores[label], label))
    assert order_of(np.array(scores), np.array(among), first) == expected


def lists_with_probabilities(n: int, share: Any) -> list[tuple[tuple[str, ...], float]]:
    """Every list that is drawn place by place among the labels that are left, with its probability."""
    made = []
    for shown in itertools.permutations(WORTH, n):
        probability = 1.0
        for place, label in enumerate(shown):
            probability *= share(tuple(sorted(set(WORTH) - set(shown[:place]))))[label]
        made.append((shown, probability))
    return made


def clicks_with_probabilities(shown: Sequence[str]) -> list[tuple[list[bool], float]]:
    """Position-based: looked at, and liked, each on its own. Sums over both, for each position."""
    likely = [EXAMINED[place] * WORTH[label] for place, label in enumerate(shown)]
    return [
        (list(clicks), math.prod(p if click else 1.0 - p for click, p in zip(clicks, likely, strict=True)))
        for clicks in itertools.product([False, True], repeat=len(shown))
    ]


def trained() -> GapBoost:
    model = GapBoost(list(WORTH), rewards=(0, 1 / min(EXAMINED)), seed=3)
    for t in range(30):
        decision = model.decide({"hour": t % 5})
        model.learn(decision, reward=3.0 * WORTH[str(decision.label)])
    return model


def test_position_rewards_tell_in_the_mean_what_a_label_is_worth_wherever_it_stands() -> None:
    """Over all lists that a model may show and all clicks on them: of each place the mean reward, and the mean
    of reward / p, which is what estimates are made of.
    """
    model = trained()
    known: dict[tuple[str, ...], Any] = {}

    def share(left: tuple[str, ...]) -> Any:
        if left not in known:
            known[left] = model.distribution({"hour": 2}, allowed=left)
        return known[left]

    mean = np.zeros((3, 4))
    total = np.zeros((3, 4))
    weighted = np.zeros((3, 4))
    possible = np.zeros((3, 4))
    names = list(WORTH)
    for shown, probability in lists_with_probabilities(3, share):
        for clicks, likely in clicks_with_probabilities(shown):
            rewards = position_rewards(clicks, EXAMINED)
            for place, reward in enumerate(rewards):
                column, weight = names.index(shown[place]), probability * likely
                left = tuple(sorted(set(WORTH) - set(shown[:place])))
                mean[place, column] += weight * reward
                total[place, column] += weight
                weighted[place, column] += weight * reward / share(left)[shown[place]]
    for shown, probability in lists_with_probabilities(2, share):
        for place in (0, 1, 2):
            for column, name in enumerate(names):
                possible[place, column] += probability * (name not in shown[:place])
    worth = np.array([list(WORTH.values())] * 3)
    np.testing.assert_allclose(total.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(mean / total, worth, rtol=1e-12)
    np.testing.assert_allclose(weighted / possible, worth, rtol=1e-9)


def test_raw_clicks_would_not() -> None:
    """The reason for all this: of a click as it is the mean is what a label is worth times who looks there."""
    for place in range(3):
        shown = ("a", "d", "b")
        mean = sum(likely * clicks[place] for clicks, likely in clicks_with_probabilities(shown))
        assert mean == pytest.approx(EXAMINED[place] * WORTH[shown[place]])
        assert mean < WORTH[shown[place]]


def test_cascade_rewards_tell_in_the_mean_what_a_label_is_worth_where_it_was_read() -> None:
    told, heard = np.zeros(3), np.zeros(3)
    shown = ("b", "d", "a")
    for liked in itertools.product([False, True], repeat=3):
        likely = math.prod(
            WORTH[label] if like else 1.0 - WORTH[label] for label, like in zip(shown, liked, strict=True)
        )
        clicks = [like and not any(liked[:place]) for place, like in enumerate(liked)]
        for place, reward in enumerate(cascade_rewards(clicks)):
            told[place] += likely * reward
            heard[place] += likely
    np.testing.assert_allclose(told / heard, [WORTH[label] for label in shown], rtol=1e-12)


def test_a_list_is_shown_and_learned() -> None:
    """The guide's way: place by place among what is left; then all places are learned at once."""
    model = trained()
    for t in range(50):
        left, shown = list(model.labels), []
        for _ in EXAMINED:
            shown.append(model.decide({"hour": t % 5}, allowed=left))
            left.remove(shown[-1].label)
        model.learn_many(shown, rewards=position_rewards([True, False, True], EXAMINED))
    assert len({decision.label for decision in shown}) == 3
    assert model.verdicts == 30 + 150
    with pytest.raises(DecisionError, match=r"before|again|learned"):
        model.learn(shown[0], reward=0.0)


BAD_CLICKS: list[Any] = [[], None, "yes", {True}, [2], [None], [0.5], [True, "no"], 3, [math.nan], [-1]]


@pytest.mark.parametrize("clicks", BAD_CLICKS, ids=repr)
def test_clicks_that_are_none_are_refused(clicks: Any) -> None:
    for call in (lambda: position_rewards(clicks, EXAMINED), lambda: cascade_rewards(clicks)):
        with pytest.raises(DecisionError, match=r"clicks.*; give"):
            call()


@pytest.mark.parametrize(
    "examined",
    [[], None, 0.5, "1", [0.0], [1.5], [math.nan], [math.inf], [-0.1], ["a"], [True], [None]],
    ids=repr,
)
def test_probabilities_that_are_none_are_refused(examined: Any) -> None:
    with pytest.raises((DecisionError, ParameterError), match=r"examined.*; give"):
        position_rewards([True], examined)


def test_each_position_needs_its_probability() -> None:
    with pytest.raises(DecisionError, match=r"4 clicks and 3 probabilities"):
        position_rewards([0, 1, 0, 0], EXAMINED)
    assert position_rewards([0, np.True_], EXAMINED) == [0.0, 2.0]


def test_a_cascade_ends_with_its_first_click() -> None:
    with pytest.raises(DecisionError, match=r"2 clicks.*position_rewards"):
        cascade_rewards([1, 0, 1])


@given(st.one_of(st.none(), st.integers(-3, 3), st.lists(st.one_of(st.booleans(), st.floats(), st.text()))))
def test_whatever_is_given_is_taken_or_refused(given_: Any) -> None:
    for call in (lambda: position_rewards(given_, [0.5] * 9), lambda: cascade_rewards(given_)):
        try:
            rewards = call()
        except BanditBoostError:
            continue
        assert set(rewards) <= {0.0, 1.0, 2.0}
