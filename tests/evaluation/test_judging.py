"""Several policies by one log: who is judged when, looks on the way, and what is refused."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import GapBoost
from banditboost.errors import BanditBoostError, LogError, ParameterError
from banditboost.evaluation import Learner, LoggedRows, PolicyDifference, PolicyValue, evaluate
from tests.naive import evaluation as naive

LABELS = ["news", "games", "film"]


def a_log(n: int, seed: int = 1) -> LoggedRows:
    """Visitors of two kinds, banners at random: games for one kind, film for the other."""
    rng = np.random.default_rng(seed)
    kind, shown = rng.integers(0, 2, n), rng.integers(0, 3, n)
    rate = np.where(shown == kind + 1, 0.5, 0.1)
    rows = [{"kind": str(x)} for x in kind.tolist()]
    actions = [LABELS[a] for a in shown.tolist()]
    return LoggedRows(rows, actions, (rng.random(n) < rate).astype(float), np.full(n, 1 / 3))


def knows(x: dict[str, str]) -> dict[str, float]:
    return {LABELS[int(x["kind"]) + 1]: 1.0}


def test_policies_of_all_kinds_get_what_they_earn() -> None:
    log = a_log(6000)
    found = evaluate(
        {
            "logged": "logged",
            "uniform": "uniform",
            "film": "film",
            "best": "best label so far",
            "knows": knows,
            "in order": lambda x: [0.0, 0.5, 0.5],  # noqa: ARG005 (whatever the row)
        },
        log,
        LABELS,
        least=1 / 3,
    )
    means = {"logged": 0.7 / 3, "uniform": 0.7 / 3, "film": 0.3, "best": 0.3, "knows": 0.5, "in order": 0.3}
    for name, mean in means.items():
        last = found.looks[name][-1]
        assert last.low <= mean <= last.high
        assert last.estimate == pytest.approx(mean, abs=0.05)
        assert last.rows == found.rows == 6000
    assert found.estimators == dict.fromkeys(means, "doubly_robust") | {"logged": "ips"}
    assert found.better_since("knows") is not None
    assert found.better_since("uniform") is found.better_since("logged") is None
    assert found.values["logged"].estimate() == pytest.approx(float(np.mean(log.rewards)))


@pytest.mark.parametrize("least", [None, 1 / 3])
def test_policies_are_held_against_another_one(least: float | None) -> None:
    log = a_log(2000)
    policies: Any = {"logged": "logged", "film": "film", "knows": knows}
    found = evaluate(policies, log, LABELS, against="film", least=least)
    alone = PolicyDifference()
    mine, film = ([float(told(x).get(label, 0.0)) for x, label in zip(log.rows, log.actions, strict=True)]
                  for told in (knows, lambda _: {"film": 1.0}))  # fmt: skip
    alone.add_many(log.rewards, log.probabilities, mine, film)
    assert found.differences["knows"].to_plain() == alone.to_plain()
    assert found.looks["film"][-1][4:6] == pytest.approx((0.0, 0.0), abs=0.2)
    assert found.differences["film"].estimate() == 0.0
    assert found.looks["logged"][-1].ahead_high > -0.07 > found.looks["logged"][-1].ahead_low
    assert (
        found.looks["knows"][-1].estimate
        == evaluate(policies, log, LABELS, least=least).looks["knows"][-1].estimate
    )
    same = evaluate(policies, log, LABELS, against="logged", least=least)
    assert same.looks == evaluate(policies, log, LABELS, least=least).looks


def test_a_learner_is_judged_before_it_learns_and_learns_what_was_logged_only() -> None:
    log, model = a_log(400), GapBoost(LABELS, seed=3)
    found = evaluate({"learner": Learner(model)}, log, LABELS)
    other, rows = GapBoost(LABELS, seed=3), []
    for x, label, u in zip(log.rows, log.actions, log.rewards.tolist(), strict=True):
        rows.append((u, 1 / 3, other.distribution(x)[label]))
        other.learn_logged(x, label, reward=u, probability=1 / 3)
    assert found.values["learner"].estimate() == pytest.approx(naive.ips(rows), rel=1e-12)
    assert model.distribution({"kind": "1"}) == other.distribution({"kind": "1"})
    assert model.verdicts == 0


def test_a_learner_comes_to_know_and_a_model_stays_as_it_is() -> None:
    log = a_log(3000)
    model = GapBoost(LABELS, seed=3)
    found = evaluate({"learner": Learner(model)}, log, LABELS, least=1 / 3)
    assert found.looks["learner"][-1].estimate > 0.35
    as_it_is = evaluate({"model": model}, a_log(300, seed=2), LABELS)
    assert as_it_is.values["model"].estimate("snips") > 0.4


def test_blocks_come_to_the_same_as_one_log() -> None:
    log = a_log(2500)
    parts = [slice(0, 7), slice(7, 7), slice(7, 1800), slice(1800, 2500)]
    blocks = [
        LoggedRows(log.rows[part], log.actions[part], log.rewards[part], log.probabilities[part])
        for part in parts
    ]
    policies: Any = {"knows": knows, "film": "film", "logged": "logged"}
    whole, pieces = evaluate(policies, log, LABELS), evaluate(policies, iter(blocks), LABELS)
    for name in policies:
        assert whole.values[name].estimate() == pieces.values[name].estimate()
        assert [look.rows for look in whole.looks[name]] == [look.rows for look in pieces.looks[name]]


def test_the_best_label_so_far_is_chosen_by_what_came_before() -> None:
    log = LoggedRows([{}] * 20, ["film"] * 20, [1.0] * 20, [0.5] * 20)
    found = evaluate({"best": "best label so far"}, log, LABELS)
    # The first ten rows are the first block, in which the first label is chosen.
    assert found.values["best"].estimate() == pytest.approx(10 * 2 / 20)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_logs_of_few_rows(n: int) -> None:
    found = evaluate({"knows": knows, "learner": Learner(GapBoost(LABELS, seed=1))}, a_log(n), LABELS)
    assert found.rows == n
    assert len(found.looks["knows"]) == min(n, 1)
    assert math.isnan(found.values["knows"].estimate()) == (n == 0)
    assert found.better_since("knows") is None


def test_graded_rewards_are_told_in_their_units() -> None:
    log = a_log(1000)
    graded = LoggedRows(log.rows, log.actions, 10.0 * log.rewards - 5.0, log.probabilities)
    for least in (None, 1 / 3):
        plain = evaluate({"knows": knows}, log, LABELS, least=least).looks["knows"][-1]
        found = evaluate({"knows": knows}, graded, LABELS, rewards=(-5, 5), least=least).looks["knows"][-1]
        for one, other in zip(found[1:4], plain[1:4], strict=True):
            assert one == pytest.approx(10.0 * other - 5.0)
        assert found.ahead_low == pytest.approx(10.0 * plain.ahead_low)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"actions": ["news", "cooking"]}, "the action is 'cooking' in row 1, which is none of the labels"),
        ({"actions": [[], "news"]}, r"the action is \[\] in row 0"),
        ({"actions": ["news"]}, "there are 1 actions and 2 rewards"),
        ({"rows": [{}]}, "there are 1 rows and 2 rewards"),
        ({"rewards": [1.0, 2.0]}, "the reward is 2 in row 1"),
        ({"probabilities": None}, "the log has no probabilities"),
        ({"probabilities": [0.5, math.nan]}, "the logged probability is nan in row 1"),
        ({"probabilities": [0.5, 0.01]}, "and least is 0.1"),
    ],
)
def test_blocks_that_cannot_be_are_refused_and_no_learner_hears_of_them(
    changed: dict[str, Any], words: str
) -> None:
    told = {
        "rows": [{"a": 1}] * 2,
        "actions": ["news"] * 2,
        "rewards": [1.0, 0.0],
        "probabilities": [0.5, 0.5],
    }
    model = GapBoost(LABELS, seed=1)
    with pytest.raises(LogError, match=words) as caught:
        evaluate({"learner": Learner(model)}, LoggedRows(**{**told, **changed}), LABELS, least=0.1)
    assert caught.value.__notes__ == ["evaluate stopped after 0 rows"]
    assert model.logged == 0


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda x: {"news": 0.5}, "the sum of the probabilities of the policy 'p' is 0.5 in row 0"),  # noqa: ARG005
        (lambda x: {"news": 0.5, "tea": 0.5}, "the policy 'p' may choose 'tea'"),  # noqa: ARG005
        (lambda x: [1.0], "the policy 'p' gives an array of shape"),  # noqa: ARG005
        (lambda x: "news", "the policy 'p' gives"),  # noqa: ARG005
        (lambda x: {"news": math.nan}, "probabilit"),  # noqa: ARG005
    ],
)
def test_policies_that_tell_no_probabilities_are_refused(policy: Any, words: str) -> None:
    with pytest.raises(LogError, match=words):
        evaluate({"p": policy}, a_log(3), LABELS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluate({}, a_log(1), LABELS), "policies is {}"),
        (lambda: evaluate({"p": "tea"}, a_log(1), LABELS), "the policy 'p' is 'tea'; give a model"),
        (lambda: evaluate({"p": 3}, a_log(1), LABELS), "the policy 'p' is 3"),
        (lambda: evaluate({"p": "news"}, a_log(1), ["news"]), "labels"),
        (lambda: evaluate({"p": "news"}, a_log(1), LABELS, least=0), "least is 0"),
        (lambda: evaluate({"p": "news"}, a_log(1), LABELS, rows=0), "rows is 0"),
        (lambda: evaluate({"p": "news"}, a_log(1), LABELS, level=2), "level is 2"),
        (lambda: evaluate({"p": "news"}, a_log(1), LABELS, against="q"), "against is 'q'; give the name"),
        (lambda: Learner("GapBoost"), "model is 'GapBoost'"),
    ],
)
def test_parameters_that_cannot_be_are_refused(call: Any, words: str) -> None:
    with pytest.raises((ParameterError, BanditBoostError), match=words):
        call()


CELL = st.one_of(st.floats(), st.sampled_from(LABELS), st.none(), st.integers(-1, 2), st.floats(0.0, 1.0))


@given(st.lists(st.tuples(CELL, CELL, CELL), max_size=5))
def test_whatever_stands_in_a_log_is_judged_or_refused(rows: list[tuple[Any, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    try:
        found = evaluate({"film": "film"}, LoggedRows([{}] * len(rows), *columns), LABELS)
    except BanditBoostError as error:
        assert "; give" in str(error) or ": " in str(error)  # noqa: PT017
    else:
        assert found.rows == len(rows)


def test_looks_lie_ever_farther_apart() -> None:
    found = evaluate({"film": "film"}, a_log(5000), LABELS)
    rows = [look.rows for look in found.looks["film"]]
    assert rows[0] == 10
    assert rows[-1] == 5000
    assert all(later <= earlier * 1.3 + 1 for earlier, later in itertools.pairwise(rows))
    assert len(rows) < 50


def test_looks_tell_the_time_of_their_last_row() -> None:
    log = a_log(50)
    whole = SimpleNamespace(**vars(log), times=list(range(100, 150)))
    found = evaluate({"film": "film", "uniform": "uniform"}, whole, LABELS)
    assert [(look.rows, look.time) for look in found.looks["film"]][:2] == [(10, 109), (12, 111)]
    assert found.looks["film"][-1].time == 149
    assert found.first_better("uniform") is None
    better = found.first_better("film")
    assert (None if better is None else better.rows) == found.better_since("film")
    assert evaluate({"film": "film"}, log, LABELS).looks["film"][-1].time is None
    short = SimpleNamespace(**vars(log), times=[1, 2])
    with pytest.raises(LogError, match="there are 2 times and 50 rewards"):
        evaluate({"film": "film"}, short, LABELS)


def test_of_many_labels_few_rows_are_held_at_a_time() -> None:
    """All probabilities of 800 rows and 20,000 labels would be 128 MB, and there are several such arrays."""
    k, n = 20_000, 800
    log = LoggedRows([{}] * n, [i * 7 % k for i in range(n)], [float(i % 2) for i in range(n)], [1 / k] * n)
    tracemalloc.start()
    found = evaluate(
        {"uniform": "uniform", "five": 5, "best": "best label so far"}, log, range(k), least=1 / k
    )
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 128e6
    assert found.values["uniform"].estimate("ips") == pytest.approx(0.5)


def test_what_evaluate_adds_is_what_a_running_sum_adds() -> None:
    log = a_log(500)
    found = evaluate({"film": "film"}, log, LABELS).values["film"]
    alone = PolicyValue()
    alone.add_many(log.rewards, log.probabilities, [float(label == "film") for label in log.actions])
    assert found.estimate("snips") == alone.estimate("snips")
    assert found.interval().low == alone.interval().low
