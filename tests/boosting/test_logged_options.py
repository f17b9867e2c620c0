"""What OptionBoost learns from logs: as from a decision that could be no other one, all or nothing."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import OptionBoost, load
from banditboost.errors import BanditBoostError, LabelError, LogError
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference, state_of

N = 30 if INTERPRETED else 80
Logged = tuple[dict[str, Any], str, float, float, dict[str, dict[str, Any]]]


def log(n: int, first: int = 0) -> list[Logged]:
    """Rows that bring ever new columns, values and ids."""
    rows: list[Logged] = []
    for t in range(first, first + n):
        offered: dict[str, dict[str, Any]] = {
            f"id {t % 9 + i}": {"price": float((t * 3 + i) % 7), "kind": "abc"[(t + i) % 3]} for i in range(4)
        }
        if t > 20:
            offered[f"id {t % 9}"]["late"] = t % 3
        x = {"hour": float(t * 5 % 24), "device": f"d{t % (5 if t < 15 else 8)}"}
        label = list(offered)[t * 7 % 4]
        rows.append((x, label, float(t % 11 < 6) * (0.5 + t % 2 / 2), 0.25, offered))
    return rows


def made(**parameters: Any) -> OptionBoost:
    return OptionBoost(**{"seed": 3, "n_learners": 3, **parameters})


def taught(rows: list[Logged], **parameters: Any) -> OptionBoost:
    model = made(**parameters)
    for x, label, reward, p, options in rows:
        model.learn_logged(x, label, reward, p, options=options)
    return model


def test_a_log_is_learned_as_decisions_that_could_be_no_other_ones() -> None:
    """To the last bit, but for what is counted; whatever else was offered is not looked at."""
    rows, decided = log(N), made()
    for x, label, reward, _, options in rows:
        decided.learn(decided.decide(x, {label: options[label]}), reward=reward)
    logged = taught(rows)
    assert set(difference(logged, decided)) <= {"counts", "tally", "ledger", "rounds", "settings"}
    assert (logged.logged, logged.verdicts, decided.logged, decided.verdicts) == (N, 0, 0, N)
    assert logged.summary().logged_mean == pytest.approx(math.fsum(row[2] for row in rows) / N)
    alone = made()
    for x, label, reward, _, options in rows:
        alone.learn_logged(x, label, reward, options={label: options[label]})
    assert difference(alone, logged) == []


def test_many_are_as_one_by_one() -> None:
    rows, many = log(N), made()
    for part in (rows[:1], rows[1:1], rows[1:]):
        x, labels, rewards, probabilities, options = map(list, zip(*part, strict=True)) if part else [[]] * 5
        many.learn_logged_many(x, labels, rewards, probabilities, options=options)
    assert difference(many, taught(rows)) == []


def test_then_it_decides_and_goes_on_from_files_pickles_and_copies(tmp_path: Any) -> None:
    model = taught(log(N))
    model.save(tmp_path / "model.bb")
    for again in (load(tmp_path / "model.bb"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert isinstance(again, OptionBoost)
        assert again.logged == N
        for x, label, reward, p, options in log(10, first=N):
            again.learn_logged(x, label, reward, p, options=options)
        assert difference(again, taught(log(N + 10))) == []
    decision = model.decide({"hour": 3.0}, log(1)[0][4])
    model.learn(decision, reward=1.0)
    assert (model.logged, model.verdicts) == (N, 1)


def test_it_comes_to_know_what_is_wanted() -> None:
    model = made()
    for t in range(400):
        kind = "hot" if t % 3 else "cold"
        model.learn_logged(
            {"hour": 8},
            f"{kind} {t % 40}",
            float(kind == "hot"),
            options={f"{kind} {t % 40}": {"kind": kind}},
        )
    new = {"new": {"kind": "hot"}, "newer": {"kind": "cold"}}
    assert model.rank({"hour": 8}, new)[0].label == "new"


SHOP: dict[str, dict[str, Any]] = {"tea": {"price": 4.5}, "juice": {"price": 3.0}}


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ({"label": "milk"}, LabelError, "label is 'milk', which is none of the options"),
        ({"label": []}, LabelError, r"label is \[\]"),
        ({"label": "tea", "allowed": ["juice"]}, LabelError, r"none of the options, \['juice'\]"),
        ({"allowed": ["milk"]}, LabelError, "allowed is"),
        ({"allowed": []}, LabelError, "allowed is"),
        ({"options": {}}, LabelError, "options is empty"),
        ({"options": {"tea": {"price": math.inf}}}, BanditBoostError, "option 'tea'"),
        ({"x": {"option.price": 1}}, BanditBoostError, "the context has the feature"),
        ({"reward": 2}, LogError, "reward is 2; give a number from 0 to 1"),
        ({"reward": None}, LogError, "reward is None"),
        ({"probability": 0}, LogError, "probability is 0"),
        ({"probability": 1.5}, LogError, "probability is 1.5"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(
    told: dict[str, Any], error: type[Exception], words: str
) -> None:
    model = taught(log(3))
    before = state_of(model)
    row = {"x": {"new": "feature"}, "label": "tea", "reward": 1.0, "options": SHOP, **told}
    with pytest.raises(error, match=words):
        model.learn_logged(**row)
    assert state_of(model) == before
    columns = [[{"a": 1}, row.pop("x")], ["tea", row.pop("label")], [1.0, row.pop("reward")]]
    others = {
        "options": [SHOP, row["options"]],
        "probabilities": [0.5, row.get("probability")],
        "allowed": [None, row.get("allowed")],
    }
    with pytest.raises(error, match=f"row 1 of 2: .*{words}"):
        model.learn_logged_many(*columns, **others)
    assert state_of(model) == before


def test_ids_among_which_it_was_chosen_may_come_from_an_iterator() -> None:
    model = made()
    model.learn_logged({}, "tea", True, options=SHOP, allowed=iter(["tea"]))
    assert model.logged == 1


CELL = st.one_of(st.floats(), st.text(max_size=2), st.none(), st.booleans(), st.just("tea"), st.floats(0, 1))
OFFER = st.one_of(
    st.just(SHOP), CELL, st.dictionaries(CELL, st.one_of(CELL, st.dictionaries(CELL, CELL)), max_size=3)
)


@given(st.lists(st.tuples(CELL, CELL, CELL, OFFER), max_size=3))
@settings(deadline=None, max_examples=10 if INTERPRETED else 100)
def test_whatever_is_told_is_learned_whole_or_refused_whole(rows: list[tuple[Any, ...]]) -> None:
    model = made()
    for label, reward, p, options in rows:
        before, logged = state_of(model), model.logged
        try:
            model.learn_logged({"hour": 1}, label, reward, p, options=options)
        except BanditBoostError:
            assert state_of(model) == before
        else:
            assert model.logged == logged + 1
