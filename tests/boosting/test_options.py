"""OptionBoost as its users meet it: what may be offered, what is refused, and what goes on to the last bit."""

from __future__ import annotations

import copy
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import Decision, OptionBoost, PendingDecisions, Schema, play
from banditboost.boosting.gap.options.own import stored_own
from banditboost.boosting.gap.options.rooms import lines_for, stored_lines
from banditboost.compiled.rng import EXPLORE, uniform_at
from banditboost.errors import (
    DecisionError,
    FeatureError,
    LabelError,
    LearnedBeforeError,
    ParameterError,
)
from banditboost.rows.options import code_of_id
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import state_of

SHOP = {"tea": {"price": 4.5, "kind": "hot"}, "juice": {"price": 3.0, "kind": "cold"}, 7: {"price": 9.0}}
X = {"hour": 21, "device": "phone"}


def taught(n_rounds: int = 30, **parameters: Any) -> OptionBoost:
    model = OptionBoost(**{"seed": 3, "n_learners": 3, **parameters})
    luck = np.random.default_rng(1)
    for t in range(n_rounds):
        x = {"hour": float(luck.integers(24)), "device": str(luck.choice(["phone", "desktop"]))}
        decision = model.decide(x, offer(luck, t))
        model.learn(decision, reward=float(luck.random() < 0.5))
    return model


def offer(luck: np.random.Generator, t: int) -> dict[Any, Any]:
    return {
        f"id {t % 7 + i}": {"price": float(luck.integers(9)), "kind": str(luck.choice(["hot", "cold"]))}
        for i in range(4)
    }


def test_probabilities_are_those_of_the_draw() -> None:
    """Every decision is drawn by the rule: the sum of the intervals of u that lead to an option."""
    model = taught()
    for t in range(40):
        before = copy.deepcopy(model)
        told = before.distribution({**X, "hour": t % 24}, SHOP)
        decision = model.decide({**X, "hour": t % 24}, SHOP)
        assert decision.distribution() == told
        assert math.fsum(told.values()) == pytest.approx(1.0, abs=1e-12)
        assert min(told.values()) > 0.0
        best = max(told, key=lambda id_: told[id_])
        u, total, expected = uniform_at(3, decision.round, EXPLORE, 0), 0.0, best
        for id_, p in told.items():
            if id_ != best:
                total += p
                if u < total:
                    expected = id_
                    break
        assert decision.label == expected
        assert decision.probability == told[decision.label]


def test_a_new_option_is_scored_by_its_features() -> None:
    model = OptionBoost(seed=1, n_learners=3)
    luck = np.random.default_rng(5)
    for t in range(80):
        shop = {f"{t} {i}": {"good": float(i), "noise": luck.normal()} for i in range(3)}
        decision = model.decide(X, shop)
        model.learn(decision, correct=decision.label.endswith("2"))
    ranked = model.rank(
        X, {"never seen": {"good": 0.0, "noise": 0.0}, "nor this": {"good": 2.0, "noise": 0.0}}
    )
    assert [place.label for place in ranked] == ["nor this", "never seen"]


def test_what_is_special_to_an_id_is_learned() -> None:
    model = OptionBoost(seed=1, n_learners=1)
    for _ in range(150):
        decision = model.decide({}, {"a": {}, "b": {}, "c": {}})
        model.learn(decision, correct=decision.label == "b")
    assert model.decide({}, {"a": {}, "b": {}, "c": {}}).greedy == "b"
    assert model.rank({}, {"c": None, "b": None})[0].label == "b"


def test_only_some_options_are_allowed() -> None:
    model = taught()
    decision = model.decide(X, SHOP, allowed=["juice", 7])
    assert decision.allowed == ("juice", 7)
    assert decision.distribution()["tea"] == 0.0
    assert {place.label for place in decision.ranking()} == {"juice", 7}
    among = {"juice": SHOP["juice"], 7: SHOP[7]}
    assert model.distribution(X, SHOP, ["juice", 7]) == {"tea": 0.0, **model.distribution(X, among)}
    assert model.decide(X, SHOP, allowed=SHOP).allowed == tuple(SHOP)
    back = Decision.from_dict(json.loads(json.dumps(decision.to_dict())), list(SHOP))
    assert back.distribution() == decision.distribution()
    model.learn(back, reward=1.0)


@pytest.mark.parametrize("k", [1, 2, 33, 1_000])
def test_any_number_of_options(k: int) -> None:
    model = taught(5)
    options = {i: {"price": float(i % 11)} for i in range(k)}
    decision = model.decide(X, options)
    shares = decision.distribution()
    assert len(shares) == k
    assert math.fsum(shares.values()) == pytest.approx(1.0, abs=1e-9)
    assert shares == pytest.approx(dict(zip(options, shares.values(), strict=True)))
    assert decision.probability == shares[decision.label]
    if k == 1:
        assert decision.probability == 1.0
    stored = Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
    assert stored.label == decision.label
    model.learn(stored, correct=True)


def test_a_list_of_pairs_is_a_dict() -> None:
    model, other = taught(), taught()
    pairs = list(SHOP.items())
    for _ in range(5):
        assert model.decide(X, SHOP).distribution() == other.decide(X, pairs).distribution()


def test_arrays_and_lists_are_features_by_position() -> None:
    model = OptionBoost(seed=1, n_learners=2)
    decision = model.decide(
        np.array([1.0, 2.0]), {"a": np.array([0.5, np.nan]), "b": [1, 2], "c": (3.0, 4.0)}
    )
    model.learn(decision, correct=True)
    assert model.schema.names == ("x0", "x1", "option.x0", "option.x1")


BAD: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "none at all": (X, {}, LabelError, "options is empty; give a dict"),
    "no options": (X, None, LabelError, "options is None of type NoneType"),
    "one string": (X, "tea", LabelError, "options is 'tea' of type str"),
    "ids without features": (X, ["tea", "juice"], LabelError, r"options\[0\] is 'tea'"),
    "an id twice": (X, [("a", {}), ("b", {}), ("a", {})], LabelError, "the id 'a' is offered twice"),
    "an id that is a list": (X, [([1], {})], LabelError, "not hashable"),
    "an id that is NaN": (X, {math.nan: {}}, LabelError, "not equal to itself"),
    "features that are none": (X, {"a": 3}, FeatureError, "option 'a': the features are 3 of type int"),
    "an infinite feature": (
        X,
        {"a": {"price": 1.0}, "b": {"price": math.inf}},
        FeatureError,
        "option 'b': .*inf",
    ),
    "a huge feature": (X, {"b": {"price": 1e101}}, FeatureError, r"option 'b': .*option\.price"),
    "a complex feature": (X, {"b": {"price": 1j}}, FeatureError, "option 'b'"),
    "a context of options": ({"option.price": 1}, SHOP, FeatureError, r"the context has the feature"),
    "a context of an option": ({"option": {"price": 1}}, SHOP, FeatureError, r"the context has the feature"),
    "a bad context": ({"hour": math.inf}, SHOP, FeatureError, "hour"),
    "no context": (3, SHOP, FeatureError, "features are 3"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_changes_nothing(name: str) -> None:
    x, options, error, message = BAD[name]
    model = taught(8)
    model.decide(X, SHOP)
    before = state_of(model)
    for call in (model.decide, model.distribution, model.rank):
        with pytest.raises(error, match=message):
            call(x, options)
    with pytest.raises(error, match=message):
        model.decide_many([X, x], [SHOP, options])
    assert state_of(model) == before


@pytest.mark.parametrize("allowed", [[], ["coffee"], "tea", 3, [["tea"]]])
def test_allowed_ids_are_some_of_those_offered(allowed: Any) -> None:
    model = taught(3)
    before = state_of(model)
    with pytest.raises(LabelError, match="allowed is"):
        model.decide(X, SHOP, allowed)
    assert state_of(model) == before


def test_labels_are_refused() -> None:
    model = taught(3)
    for call in (model.add_label, model.remove_label):
        with pytest.raises(LabelError, match="OptionBoost has no labels; give the options with each call"):
            call("tea")
    with pytest.raises(LabelError, match="leave it out"):
        model.tree(0, "tea")
    assert model.tree(0).n_leaves >= 1
    with pytest.raises(ParameterError, match="OptionBoost's chains are of trees"):
        OptionBoost(weak_learner=object())  # type: ignore[arg-type]


def test_features_change_their_kind() -> None:
    """As in other rows: "3" is a number in a numeric column, other text stands beside it; a strict schema
    refuses both.
    """
    model = taught(5)
    model.learn(
        model.decide(X, {"a": {"price": 3}, "b": {"price": "3"}, "c": {"price": "cheap"}}), reward=0.5
    )
    assert "option.price (text)" in model.schema.names
    model.learn(
        model.decide(X, {"a": {"price": None}, "b": {"price": math.nan}, "c": {"kind": 3}}), reward=0.5
    )
    strict = OptionBoost(seed=1, schema=Schema(numeric=["option.price"], strict=True))
    with pytest.raises(FeatureError, match=r"option 'a': .*numeric"):
        strict.decide({}, {"a": {"price": "cheap"}})
    with pytest.raises(FeatureError, match=r"option\.size.*declared"):
        strict.decide({}, {"a": {"size": 1}})
    strict.decide({}, {"a": {"price": 2}})


# Everything goes on to the last bit


def alike(one: Any, other: Any, n_rounds: int = 12) -> None:
    luck = np.random.default_rng(9)
    for t in range(n_rounds):
        x, shop, reward = {"hour": float(luck.integers(24))}, offer(luck, t), float(luck.random())
        first, second = one.decide(x, shop), other.decide(x, shop)
        assert (first.label, first.greedy) == (second.label, second.greedy)
        assert first.distribution() == second.distribution()
        one.learn(first, reward=reward)
        other.learn(second, reward=reward)


def test_files_pickles_and_copies_go_on(tmp_path: Path) -> None:
    model = taught(40)
    decision = model.decide(X, SHOP)
    model.save(tmp_path / "model.bb")
    for made in (
        banditboost.load(tmp_path / "model.bb"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        original = copy.deepcopy(model)
        for one in (original, made):
            one.learn(Decision.from_dict(decision.to_dict()), reward=0.25)
        alike(original, made)
        assert made.verdicts == original.verdicts


def test_with_little_memory_files_go_on(tmp_path: Path) -> None:
    model = taught(40, max_memory=1 << 20)
    model.save(tmp_path / "model.bb")
    alike(model, banditboost.load(tmp_path / "model.bb"))
    assert model.memory_usage <= 1 << 20


def test_many_at_once_are_as_one_by_one() -> None:
    one, other = taught(), taught()
    luck = np.random.default_rng(2)
    rows, offers = [{"hour": float(t)} for t in range(9)], [offer(luck, t) for t in range(9)]
    offers[4] = {**offers[4], "new": {"weight": 3.0, "kind": "lukewarm"}}
    many = one.decide_many(rows, offers)
    alone = [other.decide(x, shop) for x, shop in zip(rows, offers, strict=True)]
    assert [(d.label, d.probability) for d in many] == [(d.label, d.probability) for d in alone]
    for decision in alone:
        other.learn(decision, correct=False)
    one.learn_many(many, [False] * 9)
    assert one.verdicts == other.verdicts
    assert [d.label for d in one.decide_many(rows, offers[0])]
    with pytest.raises(LabelError, match="3 entries for 9 contexts"):
        one.decide_many(rows, offers[:3])


def test_each_verdict_counts_once_and_branches_are_learned() -> None:
    model = taught()
    decision = model.decide(X, SHOP)
    model.learn(decision, reward=1.0)
    with pytest.raises(LearnedBeforeError):
        model.learn(decision, reward=1.0)
    with pytest.raises(DecisionError):
        OptionBoost(seed=3).learn(model.decide(X, SHOP), reward=1.0)
    branch = model.branch()
    made = branch.decide({**X, "weather": "rain"}, {"cocoa": {"price": 5.0, "size": "l"}, "milk": {}})
    told = Decision.from_dict(json.loads(json.dumps(made.to_dict())), ["cocoa", "milk"])
    assert told.distribution() == made.distribution()
    model.learn(told, reward=0.0)
    assert {"weather", "option.size"} <= set(model.schema.names) or made.label == "milk"
    with pytest.raises(LearnedBeforeError):
        model.learn(made, reward=0.0)


def test_a_decision_that_was_changed_is_refused() -> None:
    model = taught()
    data = model.decide(X, SHOP).to_dict()
    for place, value in ((41, -3.0), (41, 0.5), (42, 7.0)):
        memo = [*data["memo"]]
        memo[place] = value
        changed = Decision.from_dict(
            {**{k: v for k, v in data.items() if k != "checksum"}, "format": 3, "memo": memo}
        )
        with pytest.raises(DecisionError, match="does not fit this model"):
            model.learn(changed, reward=1.0)


def test_open_decisions_are_kept_with_their_options() -> None:
    model = taught()
    pending = PendingDecisions(model, expired=0.0)
    label = pending.decide("visit", X, ["tea"], options=SHOP).label
    back = PendingDecisions.from_dict(json.loads(json.dumps(pending.to_dict())), model)
    assert label == "tea"
    assert back.learn("visit", reward=1.0) == "learned"


def test_looking_changes_nothing() -> None:
    model = taught()
    before = state_of(model)
    model.distribution({"new": 1.0, **X}, {"a": {"newer": "x"}, "b": {"price": 3.0}})
    model.rank(X, {i: {"price": float(i)} for i in range(20)})
    assert state_of(model) == before


def test_threads_share_a_model() -> None:
    model = taught(5)

    def visit(t: int) -> None:
        decision = model.decide({"hour": float(t % 24)}, {i: {"price": float(i)} for i in range(1 + t % 60)})
        model.learn(decision, reward=t % 2)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(visit, range(60)))
    assert (model.rounds, model.verdicts) == (65, 65)


# Play


def test_play_is_as_by_hand() -> None:
    luck = np.random.default_rng(4)
    rows, offers = [{"hour": float(t % 24)} for t in range(40)], [offer(luck, t) for t in range(40)]
    rewards = [{id_: float(one["price"] > 4) for id_, one in shop.items()} for shop in offers]
    played, by_hand = taught(), taught()
    result = play(played, rows, options=offers, rewards=rewards)
    earned = []
    for x, shop, told in zip(rows, offers, rewards, strict=True):
        decision = by_hand.decide(x, shop)
        by_hand.learn(decision, reward=told[decision.label])
        earned.append(told[decision.label])
    assert result.rewards is not None
    assert result.rewards.tolist() == earned
    alike(played, by_hand)
    late = play(taught(), rows, options=offers, rewards=lambda t, id_: rewards[t][id_], delay=5, lost=0.1)
    assert late.learned < 40
    right = [max(told, key=lambda id_: told[id_]) for told in rewards]
    assert 0.0 <= play(taught(), rows, right, options=offers).mean_reward <= 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rewards": [{}]}, "options is None"),
        ({"options": SHOP, "rewards": [{}]}, "without the reward of"),
        (
            {"options": SHOP, "rewards": [{"tea": 2, "juice": 2, 7: 2}]},
            "the reward of .* in round 0: reward is 2",
        ),
        ({"options": SHOP, "rewards": []}, "rewards has 0 entries for 1 rounds"),
    ],
)
def test_a_stream_that_does_not_fit_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        play(taught(2), [X], **arguments)


def test_labels_are_not_played_with_options() -> None:
    with pytest.raises(ParameterError, match="GapBoost chooses among its labels"):
        play(banditboost.GapBoost(["a", "b"], seed=1), [X], ["a"], options=SHOP)


# Any input


NAMES = st.sampled_from(["price", "kind", "tags", "x", "", "é", "option"])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.lists(st.text(max_size=4), max_size=3),
    st.dictionaries(st.sampled_from(["a", "b"]), st.floats(-5, 5), max_size=2),
)
ROWS = st.dictionaries(NAMES, VALUES, max_size=4)
IDS = st.one_of(
    st.text(max_size=3),
    st.integers(-5, 5),
    st.floats(),
    st.none(),
    st.tuples(st.integers(0, 2), st.text(max_size=1)),
)
OPTIONS = st.one_of(
    st.dictionaries(IDS, st.one_of(st.none(), ROWS, st.lists(st.floats(-9, 9), max_size=3)), max_size=5),
    st.lists(st.tuples(IDS, ROWS), max_size=4),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(ROWS, OPTIONS, st.booleans()), min_size=1, max_size=4))
def test_whatever_comes_is_decided_or_refused_whole(rounds: list[Any]) -> None:
    model = OptionBoost(seed=1, n_learners=1)
    for x, options, correct in rounds:
        n, before = model.rounds, model.schema.to_dict()
        try:
            decision = model.decide(x, options)
        except (FeatureError, LabelError):
            assert model.rounds == n
            assert model.schema.to_dict() == before
            continue
        shares = decision.distribution()
        assert list(shares) == list(dict(options))
        assert math.fsum(shares.values()) == pytest.approx(1.0, abs=1e-9)
        assert all(0.0 < share <= 1.0 for share in shares.values())
        model.learn(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), correct=correct)
        assert model.verdicts <= model.rounds


@given(IDS, IDS)
def test_equal_ids_have_one_number(one: Any, other: Any) -> None:
    assert code_of_id(one) == code_of_id(one)
    if one == other:
        assert code_of_id(one) == code_of_id(other)


def test_numbers_of_ids_never_change() -> None:
    given = ("tea", 7, 7.0, True, 1, 2.5, None, b"x", ("a", 1))
    told = [688512718, 35320281, 35320281, 3950597356, 3950597356]
    assert [code_of_id(id_) for id_ in given] == [*told, 1163037490, 3751981041, 202890998, 2143142276]
    assert code_of_id(frozenset({1})) == -1


def test_a_look_changes_nothing_that_joins_later() -> None:
    """Names that came once are noted, and a look in between settles no note of another round."""

    def known_after(look: bool) -> str:
        model = OptionBoost(seed=1)
        for brand in [*(f"b{i}" for i in range(20)), "new"]:
            model.decide({"h": 1.0}, {"a": {"brand": brand, "p": 1.0}})
        if look:
            model.summary()
        model.decide({"h": 1.0}, {"a": {"brand": "b1", "p": None}})
        model.decide({"h": 1.0}, {"a": {"brand": "new", "p": 1.0}})
        return repr(model.schema)

    assert known_after(look=True) == known_after(look=False)
    assert "nominal[5]" in known_after(look=True)


def test_an_id_is_the_same_whatever_shows_it() -> None:
    class Shelf(str, Enum):  # noqa: UP042 (a StrEnum shows itself as its text)
        TOP = "top"

    assert code_of_id(Shelf.TOP) == code_of_id("top")
    assert code_of_id(np.timedelta64(1, "D")) == -1


def plays(model: OptionBoost, n_rounds: int, n_ids: int, seed: int = 5) -> float:
    """Options without features, each of which is right in a context of its own: the share of right ones late."""
    luck, right = np.random.default_rng(seed), 0
    for t in range(n_rounds):
        x = {"u": luck.normal(), "v": luck.normal()}
        best = int((x["u"] > 0) + 2 * (x["v"] > 0))
        decision = model.decide(x, dict.fromkeys(range(n_ids)))
        model.learn(decision, correct=decision.label == best)
        right += t >= n_rounds // 2 and decision.label == best
    return right / (n_rounds - n_rounds // 2)


def test_an_id_has_a_line_over_contexts() -> None:
    """Nothing else tells these options apart."""
    model = OptionBoost(seed=3, n_learners=2)
    assert plays(model, 120 if INTERPRETED else 1_000, 4) > (0.3 if INTERPRETED else 0.7)
    assert int(model._lines.taken[0]) == 4
    assert sorted(model._own["room"][model._own["count"] > 0].tolist()) == [1, 2, 3, 4]


def test_ids_heard_of_often_take_the_rooms_of_others(tmp_path: Path) -> None:
    """With room for eight lines, twelve ids."""
    model = OptionBoost(seed=3, n_learners=1, max_memory=1 << 20)
    luck = np.random.default_rng(2)
    for t in range(60 if INTERPRETED else 500):
        x = {f"x{i}": luck.normal() for i in range(4)}
        decision = model.decide(x, dict.fromkeys(range(12)))
        model.learn(decision, correct=decision.label == t % 12)
    n = len(model._lines.rooms)
    assert int(model._lines.taken[0]) == n < 12
    places = model._lines.rooms["place"].tolist()
    assert len(set(places)) == n
    assert model._own["room"][places].tolist() == list(range(1, 1 + n))
    assert int(np.count_nonzero(model._own["room"])) == n
    model.save(tmp_path / "model.bb")
    alike(model, banditboost.load(tmp_path / "model.bb"))


def test_lines_go_on_when_columns_join() -> None:
    """And rooms become fewer: those stay that learned last. In the end there are none."""
    model = OptionBoost(seed=3, n_learners=1, max_memory=1 << 20)
    luck, rooms = np.random.default_rng(2), []
    for n in (1, 2, 3, 4, 40):
        for _ in range(12):
            decision = model.decide({f"x{i}": luck.normal() for i in range(n)}, dict.fromkeys(range(12)))
            model.learn(decision, correct=decision.label == 3)
        taken = int(model._lines.taken[0])
        rooms.append(len(model._lines.rooms))
        assert int(np.count_nonzero(model._own["room"])) == taken
        learned = model._lines.rooms["learned"][:taken]
        assert len(set(learned.tolist())) == taken
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[0] > 8
    assert rooms[-1] == 0


def test_files_from_before_there_were_lines_are_read() -> None:
    model = taught(40)
    arrays = {name: array for name, array in model._arrays().items() if not name.startswith("line_")}
    own = stored_own(arrays, len(model._own), model.verdicts)
    lines = stored_lines(arrays, lines_for(4, 1 << 28), own, model.verdicts)
    assert lines.losses.tolist() == [arrays["losses"].min(), 1.0 + arrays["losses"].min()]
    assert int(lines.taken[0]) == 0
