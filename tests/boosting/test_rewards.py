"""Why rewards between 0 and 1 are refused (docs/faq.md): the estimates would be unbiased only if the rewards
of all labels summed to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.boosting.estimate import estimate, estimated_loss
from tests.boosting.kernels import label_probability, memo_of, settings_of
from tests.boosting.rounds import STREAM, make, refused
from tests.boosting.twins import BANDITS


def mean_estimate(rewards: list[float], greedy: int, rho: float, estimator: int) -> list[float]:
    """The mean of 1 - lhat over all draws, if a reward r taught r times "right" and 1 - r times "wrong"."""
    k = len(rewards)
    mean = np.zeros(k)
    for shown in range(k):
        p = label_probability(shown, greedy, rho, k)
        for outcome, share in ((1, rewards[shown]), (0, 1.0 - rewards[shown])):
            of = estimate(settings_of(k, estimator=estimator), memo_of(greedy, shown, p), outcome)
            mean += p * share * np.array([1.0 - estimated_loss(of, label) for label in range(k)])
    return [float(value) for value in mean]


@pytest.mark.parametrize("estimator", [3, 4])
@given(rewards=st.lists(st.floats(0, 1), min_size=2, max_size=6), rho=st.floats(1e-3, 0.999), data=st.data())
def test_the_bias_is_what_the_page_says(
    rewards: list[float], rho: float, data: st.DataObject, estimator: int
) -> None:
    greedy = data.draw(st.integers(0, len(rewards) - 1))
    expected = [reward + 1.0 - sum(rewards) for reward in rewards]
    if estimator == 4:
        expected[greedy] = rewards[greedy]
    assert mean_estimate(rewards, greedy, rho, estimator) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("reward", [0.7, 1.0, 0, 1, np.float64(0.5), None, "yes"], ids=repr)
def test_rewards_are_refused(name: str, reward: Any) -> None:
    model = make(name)
    assert "give True if the shown label was right" in refused(model, model.decide(STREAM.X[0]), reward)
