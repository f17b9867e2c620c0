"""What is wrong with a log is found, and what is right is left alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from banditboost import logs
from banditboost.logs.health import UNLIKELY
from banditboost.logs.log import as_objects
from tests.logs.made import made_log


def log_of(shown: Any, p: Any, rewards: Any = None, **others: Any) -> Any:
    n = len(shown)
    told = np.arange(n) % 2 if rewards is None else rewards
    columns = {name: as_objects(cells) for name, cells in others.items()}
    block = logs.Block(
        [{}] * n,
        as_objects(list(shown)),
        np.array(told, float),
        None if p is None else np.array(p),
        **columns,
    )
    return [block]


def findings(health: logs.Health) -> list[str]:
    return [f"{finding.weight}: {finding.what}" for finding in health.findings]


def test_a_good_log_has_no_findings() -> None:
    health = logs.check(made_log(5000))
    assert health.findings == ()
    assert health.is_good
    assert sum(found.rows for found in health.actions.values()) == health.n_rows == 5000
    assert health.least_probability == 0.2
    assert 0.4 < health.mean_reward < 0.6
    assert "no findings" in repr(health)


def test_effective_rows_are_those_of_the_weights() -> None:
    p = [0.5, 0.25, 0.25, 0.1]
    health = logs.check(log_of("abca", p))
    weights = 1.0 / np.array(p)
    assert health.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize(
    ("shown", "p", "rewards", "told"),
    [
        (["a", None], [0.5, 0.5], [0, 1], "1 row has no action, the first is row 2"),
        (["a", "b"], [0.5, 0.5], [math.nan, 1], "1 row has no reward, the first is row 1"),
        (["a", "b"], [math.nan, math.nan], [0, 1], "2 rows have no probability, the first is row 1"),
        (["a", "b"], [0.5, 0.0], [0, 1], "1 row has a probability of 0 or below, the first is row 2"),
        (["a", "b"], [50.0, 0.5], [0, 1], "1 row has a probability above 1, the first is row 1"),
    ],
)
def test_problems_of_rows_are_told(shown: Any, p: Any, rewards: Any, told: str) -> None:
    health = logs.check(log_of(shown, p, rewards))
    assert f"problem: {told}" in findings(health)
    assert not health.is_good
    assert all(finding.remedy for finding in health.findings)


def test_warnings() -> None:
    assert any("only one action" in told for told in findings(logs.check(log_of("aaa", [1.0] * 3))))
    assert any("every reward is 1" in told for told in findings(logs.check(log_of("ab", [0.5] * 2, [1, 1]))))
    assert any("tells no probabilities" in told for told in findings(logs.check(log_of("ab", None))))
    assert any("every probability is 1" in told for told in findings(logs.check(log_of("ab", [1.0, 1.0]))))
    assert findings(logs.check([])) == ["problem: the log has no rows"]


def test_ids_that_come_twice_and_rows_out_of_order() -> None:
    health = logs.check(
        log_of("abab", [0.5] * 4, ids=["e1", "e2", "e1", None], times=["10:00", "10:02", "10:01", "10:03"])
    )
    told = findings(health)
    assert "problem: 1 row has an id that came before, the first is row 3" in told
    assert "warning: 1 row came before the one above, the first is row 3" in told


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("even", [True, False])
def test_right_probabilities_are_seldom_doubted(k: int, even: bool) -> None:
    """The p-values are below 0.05 in at most 5 % of logs, whose probabilities differ from row to row."""
    doubted, luck, n_logs = np.zeros(3), np.random.default_rng(k), 200
    for _ in range(n_logs):
        weights = np.full((400, k), 1.0) if even else luck.exponential(size=(400, k)) + 0.02
        shares = weights / weights.sum(axis=1, keepdims=True)
        shown = (shares.cumsum(axis=1) > luck.random((400, 1))).argmax(axis=1)
        p = shares[np.arange(400), shown]
        health = logs.check(log_of(shown.tolist(), p))
        drift = health.drift_p_value
        doubted += [health.fit_p_value < 0.05, health.fit_p_value < UNLIKELY, drift < 0.05]
    assert doubted[0] <= 0.05 * n_logs
    assert doubted[1] <= 1
    assert doubted[2] <= 0.1 * n_logs


@pytest.mark.parametrize("spread", [0.1, 0.3, 1.0])
def test_right_probabilities_that_differ_much_are_seldom_doubted(spread: float) -> None:
    """Of an action that was improbable in many rows 1 / p mostly adds up to little, and seldom to much."""
    luck = np.random.default_rng(round(10 * spread))
    doubted = 0
    for _ in range(60):
        shares = luck.dirichlet(np.full(5, spread), 800) * (1.0 - 1e-9) + 2e-10
        shown = (shares.cumsum(axis=1) > luck.random((800, 1))).argmax(axis=1)
        told = findings(logs.check(log_of(shown.tolist(), shares[np.arange(800), shown])))
        doubted += any("less often" in one or "too small" in one for one in told)
    assert doubted <= 1


def test_epsilon_greedy_logs_are_not_doubted() -> None:
    for seed in range(20):
        luck = np.random.default_rng(seed)
        best = luck.integers(5, size=2000)
        shown = np.where(luck.random(2000) < 0.01, luck.integers(5, size=2000), best)
        health = logs.check(log_of(shown.tolist(), np.where(shown == best, 0.992, 0.002)))
        assert not any("less often" in told for told in findings(health))


def test_wrong_probabilities_are_found() -> None:
    shown = np.random.default_rng(1).choice(3, 2000, p=[0.5, 0.3, 0.2])
    right, log = np.array([0.5, 0.3, 0.2]), "the probabilities are too small for how often actions were shown"
    halved = logs.check(log_of(shown.tolist(), (right / 2)[shown]))
    assert halved.fit_p_value < 1e-9
    assert any(log in told for told in findings(halved))
    swapped = logs.check(log_of(shown.tolist(), right[::-1][shown]))
    assert swapped.fit_p_value < 1e-9
    large = logs.check(log_of(shown.tolist(), np.minimum(right * 1.5, 1.0)[shown]))
    assert any("less often than its probabilities say" in told for told in findings(large))
    assert large.is_good


def test_actions_that_are_not_always_there_are_no_problem() -> None:
    """A policy that draws one of two, of which rows have different ones: 1 / p adds up to half of the rows."""
    luck = np.random.default_rng(2)
    shown = luck.integers(2, size=1000) + 2 * (np.arange(1000) % 2)
    health = logs.check(log_of(shown.tolist(), np.full(1000, 0.5)))
    assert health.fit_p_value == 1.0
    assert health.is_good
    assert any("say with allowed=" in finding.remedy for finding in health.findings)


def test_a_policy_that_changes_is_found() -> None:
    luck = np.random.default_rng(3)
    share = np.where(np.arange(4000) < 2000, 0.8, 0.4)
    shown = (luck.random(4000) > share).astype(int)
    p = np.where(shown == 0, share, 1.0 - share)
    health = logs.check(log_of(shown.tolist(), p))
    assert health.drift_p_value < 1e-9
    assert any("change along the log" in told for told in findings(health))
    assert health.is_good


def test_blocks_are_counted_as_one() -> None:
    one, many = logs.check(made_log(2000)), logs.check(block for block in made_log(2000))
    whole = logs.check(
        log_of(
            [a for b in made_log(2000) for a in b.actions],
            np.concatenate([b.probabilities for b in made_log(2000)]),
        )
    )  # type: ignore[misc]
    assert repr(one) == repr(many)
    assert (whole.fit_p_value, whole.drift_p_value) == (one.fit_p_value, one.drift_p_value)
