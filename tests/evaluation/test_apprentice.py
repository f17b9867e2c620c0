"""A model that learns beside another policy: what it is told, what is told of it, what is refused."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, AdaFull, GapBoost, OptionBoost, baselines
from banditboost.errors import BanditBoostError, LabelError, LogError, ParameterError
from banditboost.evaluation import Apprentice, Learner, PolicyValue
from tests.naive import evaluation as naive

LABELS = ["news", "games", "film"]
Observed = tuple[dict[str, Any], str, float, float]


def observed(n: int, seed: int = 1) -> list[Observed]:
    """Somebody shows news mostly; visitors of kind 1 want games, the others film."""
    draw = random.Random(seed)
    shares = {"news": 0.6, "games": 0.3, "film": 0.1}
    rows: list[Observed] = []
    for _ in range(n):
        kind, label = draw.randint(0, 1), draw.choices(LABELS, list(shares.values()))[0]
        liked = label == ("games" if kind else "film")
        rows.append(({"kind": kind}, label, float(draw.random() < (0.8 if liked else 0.2)), shares[label]))
    return rows


def taught(rows: list[Observed], *, told: bool = True, **options: Any) -> Apprentice:
    apprentice = Apprentice(GapBoost(LABELS, seed=3, **options))
    for x, label, reward, p in rows:
        apprentice.observe(x, label, reward, p if told else None)
    return apprentice


@pytest.mark.parametrize("told", [True, False])
def test_what_is_told_is_that_of_plain_loops(told: bool) -> None:
    rows, other = observed(120), GapBoost(LABELS, seed=3)
    shares = []
    for x, label, reward, p in rows:
        found = other.distribution(x)
        best = [name for name in LABELS if found[name] == max(found.values())]
        shares.append((found[label], (label in best) / len(best)))
        other.learn_logged(x, label, reward, p if told else None)
    apprentice = taught(rows, told=told)
    found = apprentice.summary(level=0.9)
    judged = [(u, p if told else 1.0, share) for (_, _, u, p), (share, _) in zip(rows, shares, strict=True)]
    gains = [pi / p * u for u, p, pi in judged]
    lost = [pi / p * (1 - u) for u, p, pi in judged]

    def bounds(low: list[float], high: list[float]) -> tuple[float, float]:
        ends = naive.lower_bound(low, 1.0, 0.05), 1 - naive.lower_bound(high, 1.0, 0.05)
        return max(0.0, ends[0]), min(1.0, ends[1])

    assert found.value[1:] == pytest.approx(bounds(gains, lost), abs=1e-6)
    for mean, values in (
        (found.agreement, [share for share, _ in shares]),
        (found.best_agreement, [best for _, best in shares]),
        (found.acting, [u for _, _, u, _ in rows]),
    ):
        assert mean.estimate == pytest.approx(math.fsum(values) / len(values))
        assert mean[1:] == pytest.approx(bounds(values, [1 - value for value in values]), abs=1e-6)
    halves = [(gain + 1 - u) / 2 for gain, (u, _, _) in zip(gains, judged, strict=True)]
    assert found.ahead.low == pytest.approx(2 * naive.lower_bound(halves, 1.0, 0.05) - 1, abs=1e-6)
    assert found.mean_weight == pytest.approx(sum(map(sum, zip(gains, lost, strict=True))) / 120)
    if told:
        assert found.value.estimate == pytest.approx(naive.ips(judged))
        assert found.ahead.estimate == pytest.approx(naive.ips(judged) - found.acting.estimate)
        assert (found.without_probability, found.remark) == (0, "")
    else:
        assert math.isnan(found.value.estimate)
        assert math.isnan(found.ahead.estimate)
        assert "120 rows came without a probability" in found.remark


def test_it_comes_to_know_and_is_known_to_be_better() -> None:
    apprentice = taught(observed(4000))
    found = apprentice.summary()
    assert found.ahead.low > 0.1
    assert found.value.low < 0.75 < found.value.high  # 0.8, less what it has tried
    assert found.agreement.high < found.best_agreement.estimate + 0.1 < 0.5
    assert apprentice.n == found.rows == 4000
    assert apprentice.model.logged == 4000
    assert apprentice.model.verdicts == 0


def test_bounds_without_probabilities_hold_though_the_acting_policy_knows_more_than_rows_tell() -> None:
    """It looks at what is hidden and shows what will be liked: nine times of ten it earns 1."""
    draw, model = random.Random(4), baselines.Random(LABELS, seed=1)
    apprentice, peeking = Apprentice(model), PolicyValue()
    for _ in range(3000):
        liked = draw.choice(LABELS)
        reward = float(draw.random() < 0.9)
        apprentice.observe({}, liked, reward)  # any other label would have earned 0
        peeking.add(reward, 1 / 3, 1 / 3)  # as if the shares of labels were its probabilities
    value = 0.3  # of showing any label
    found = apprentice.summary()
    assert found.value.low <= value <= found.value.high
    assert found.value.low > 0.25
    assert not peeking.interval().low <= value <= peeking.interval().high


def test_bounds_without_probabilities_are_wider_and_hold() -> None:
    rows = observed(3000)
    told, untold = taught(rows).summary(), taught(rows, told=False).summary()
    assert untold.value.low < told.value.low
    assert untold.value.high > told.value.high
    assert untold.agreement == told.agreement
    assert untold.acting == told.acting


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows_say_next_to_nothing(n: int) -> None:
    found = taught(observed(n)).summary()
    for mean in (found.agreement, found.best_agreement, found.value, found.acting):
        assert mean[1:] == (0.0, 1.0)
        assert math.isnan(mean.estimate) == (n == 0)
    assert found.ahead[1:] == (-1.0, 1.0)
    assert (found.rows, found.remark) == (n, "")


def test_rewards_are_told_in_their_units() -> None:
    rows = observed(200)
    graded = [(x, label, 10.0 * u - 5.0, p) for x, label, u, p in rows]
    plain, found = taught(rows).summary(), taught(graded, rewards=(-5, 5)).summary()
    assert found.value == pytest.approx([10.0 * number - 5.0 for number in plain.value])
    assert found.ahead == pytest.approx([10.0 * number for number in plain.ahead])
    assert found.agreement == pytest.approx(plain.agreement)
    verdict = taught([], rewards=(-5, 5))
    verdict.observe({}, "news", True, 0.5)
    assert verdict.summary().acting.estimate == 5.0


def test_it_goes_on_from_plain_data_and_a_file(tmp_path: Path) -> None:
    rows = observed(300)
    whole, half = taught(rows), taught(rows[:150])
    half.model.save(tmp_path / "model.bb")
    plain = json.loads(json.dumps(half.to_plain()))
    again = Apprentice.from_plain(plain, banditboost.load(tmp_path / "model.bb"))
    for row in rows[150:]:
        again.observe(*row)
    assert again.summary() == whole.summary()
    assert again.to_plain() == whole.to_plain()


def test_a_summary_is_plain_data() -> None:
    found = json.loads(json.dumps(taught([]).summary().to_dict()))
    assert found["value"] == {"estimate": None, "low": 0.0, "high": 1.0}
    assert found["mean_weight"] is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (({}, "tea", 1, 0.5), "label is 'tea', which is not one of the model's labels"),
        (({}, [], 1, 0.5), r"label is \[\]"),
        (({}, "news", 2, 0.5), "reward is 2; give a number from 0 to 1"),
        (({}, "news", math.nan, 0.5), "reward is nan"),
        (({}, "news", None, 0.5), "reward is None"),
        (({}, "news", 1, 0.0), "the logged probability is 0"),
        (({}, "news", 1, 1.5), "the logged probability is 1.5"),
        (({}, "news", 1, math.nan), "the logged probability is nan"),
        (({}, "news", 1, "half"), "probability is"),
        (({}, "news", 1, 1e-300), "the logged probability is 1e-300"),
        (({"kind": math.inf}, "news", 1, 0.5), "kind"),
        ((3, "news", 1, 0.5), "row"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(row: Any, words: str) -> None:
    apprentice = taught(observed(5))
    before, model = apprentice.to_plain(), apprentice.model
    with pytest.raises(BanditBoostError, match=words):
        apprentice.observe(*row)
    assert (apprentice.to_plain(), model.logged) == (before, 5)


def test_labels_among_which_it_was_chosen() -> None:
    apprentice = taught([])
    share = apprentice.observe({}, "news", 1, 0.5, allowed=iter(["news", "film"]))
    assert share == 0.5
    with pytest.raises(LabelError, match="which is not among the allowed ones"):
        apprentice.observe({}, "games", 1, 0.5, allowed=["news", "film"])
    assert apprentice.n == apprentice.model.logged == 1


def test_who_needs_a_probability_must_be_told_it_and_who_learns_no_rewards_is_no_apprentice() -> None:
    apprentice = Apprentice(AdaBandit(LABELS, n_learners=3, seed=1))
    with pytest.raises(LogError, match="probability is None, and AdaBandit weighs"):
        apprentice.observe({}, "news", 1)
    assert apprentice.n == 0
    apprentice.observe({}, "news", 1, 0.5)
    assert apprentice.n == 1
    with pytest.raises(ParameterError, match="give a bandit booster or a baseline"):
        Apprentice(AdaFull(LABELS))


def test_options_with_features_of_their_own() -> None:
    """A shop that shows articles alike: one of two kinds is wanted, and articles come and go."""
    apprentice, draw = Apprentice(OptionBoost(seed=1, n_learners=3)), random.Random(2)
    shares = []
    for t in range(1500):
        shop = {f"article {t // 50 + i}": {"kind": "tea" if i % 2 else "cake"} for i in range(4)}
        label = draw.choice(list(shop))
        liked = shop[label]["kind"] == "tea"
        shares.append(apprentice.observe({"hour": t % 24}, label, liked, 0.25, options=shop))
    found = apprentice.summary()
    assert found.rows == apprentice.model.logged == 1500
    assert found.agreement.estimate == pytest.approx(math.fsum(shares) / 1500)
    assert found.ahead.low > 0.2
    before = apprentice.to_plain()
    with pytest.raises(LabelError, match="options is None"):
        apprentice.observe({}, "tea", 1, 0.5)
    assert (apprentice.to_plain(), apprentice.model.logged) == (before, 1500)
    with pytest.raises(ParameterError, match=r"judge it with Apprentice\(model\)"):
        Learner(apprentice.model)


PLAIN = taught(observed(4)).to_plain()


@pytest.mark.parametrize(
    "plain",
    [
        {},
        None,
        {**PLAIN, "format": 2},
        {**PLAIN, "rewards": [0, 2]},
        {**PLAIN, "unknown": 5},
        {**PLAIN, "unknown": -1},
        {**PLAIN, "means": {"n": 4, "sides": [1]}},
        {**PLAIN, "means": {**PLAIN["means"], "n": 3}},
        {**PLAIN, "ahead": None},
    ],
)
def test_plain_data_that_is_none_is_refused(plain: Any) -> None:
    with pytest.raises(ParameterError, match="give what to_plain"):
        Apprentice.from_plain(plain, GapBoost(LABELS))


ANY = st.one_of(
    st.sampled_from(LABELS), st.floats(), st.none(), st.booleans(), st.floats(0.0, 1.0), st.text()
)


@given(st.lists(st.tuples(ANY, ANY, ANY), max_size=4))
@settings(deadline=None)
def test_whatever_is_observed_counts_whole_or_not_at_all(rows: list[tuple[Any, Any, Any]]) -> None:
    apprentice = taught([])
    for (label, reward, p), t in zip(rows, itertools.count()):
        before = apprentice.to_plain(), apprentice.model.logged
        try:
            share = apprentice.observe({"t": t}, label, reward, p)
        except BanditBoostError:
            assert (apprentice.to_plain(), apprentice.model.logged) == before
        else:
            assert 0.0 <= share <= 1.0
            assert apprentice.n == apprentice.model.logged == before[1] + 1
            assert apprentice.summary().value[1:] >= (0.0, 0.0)
