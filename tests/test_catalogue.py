"""What is known of options that come again: the same decisions as when all are coded anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from banditboost import OptionBoost
from banditboost.errors import FeatureError
from banditboost.rows import catalogue
from banditboost.rows.catalogue import Catalogue
from banditboost.rows.offered import OfferedEncoder

NAMES = ("price", "kind", "new")
VALUES = st.sampled_from([0, 1, 0.0, 1.0, 2.5, 7, True, False, None, "tea", "cake", "1", float("nan")])
SHOPS = st.dictionaries(
    st.sampled_from(["a", "b", "c", 1, None]),
    st.dictionaries(st.sampled_from(NAMES), VALUES),
    min_size=1,
)
FIRST = {"a": {"price": 2.5, "kind": "tea", "new": 1}, "b": {"price": 7, "kind": "cake", "new": 0}}


def learned() -> OptionBoost:
    model = OptionBoost(seed=1)
    for hour in range(6):
        decision = model.decide({"hour": hour}, FIRST)
        model.learn(decision, reward=float(decision.label == "a"))
    return model


def told(model: OptionBoost, shop: dict[Any, Any], hour: int) -> tuple[Any, ...]:
    decision = model.decide({"hour": hour}, shop)
    return decision.label, decision.distribution(), decision.to_dict()["memo"]


@settings(max_examples=25)
@example([{"a": {"price": 2.5, "kind": "tea", "new": True}}])  # a name, though it is equal to 1
@given(st.lists(SHOPS, min_size=1, max_size=4))
def test_options_that_come_again_are_coded_as_if_they_were_new(shops: list[dict[Any, Any]]) -> None:
    knows, forgets = learned(), learned()
    for hour, shop in enumerate([FIRST, FIRST, *shops, *shops]):
        forgets._encoder = OfferedEncoder(forgets._schema)
        assert repr(told(knows, shop, hour)) == repr(told(forgets, shop, hour))


def test_a_dict_that_was_changed_in_place_is_coded_anew() -> None:
    model, shop = learned(), {name: dict(features) for name, features in FIRST.items()}
    for _ in range(3):
        model.decide({"hour": 1}, shop)
    shop["a"]["price"] = 7.0
    rows = [model.decide({"hour": 1}, shop, allowed=["a"])._head()[-3:].tolist() for _ in range(2)]
    fresh = learned().decide({"hour": 1}, shop, allowed=["a"])._head()[-3:].tolist()
    assert rows == [fresh, fresh]
    shop["a"]["price"] = float("inf")
    with pytest.raises(FeatureError, match=r"option 'a'.*price"):
        model.decide({"hour": 1}, shop)


def test_a_value_that_cannot_be_compared_is_refused_as_ever() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ValueError("not comparable")

        __hash__ = object.__hash__

    model = learned()
    for _ in range(3):
        model.decide({"hour": 1}, FIRST)
    with pytest.raises(FeatureError, match="Odd"):
        model.decide({"hour": 1}, {**FIRST, "a": {"price": Odd(), "kind": "tea", "new": 1}})


def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_CELLS", 40)
    model = learned()
    for first in range(0, 60, 5):
        shop = {f"{n}": {"price": n + 2.0, "kind": "tea", "new": 3} for n in range(first, first + 5)}
        forgetful = learned()
        for _ in range(3):
            shares = model.distribution({"hour": 1}, shop)
            assert model.decide({"hour": 1}, shop).distribution() == shares
            assert shares == forgetful.distribution({"hour": 1}, shop)
        assert len(model._encoder._catalogue._features) <= 1 + 40 // 3


def test_an_id_is_kept_when_it_comes_for_the_second_time() -> None:
    known, rows = Catalogue(1), np.array([[4.0], [5.0]])
    shop = ["a", "b"], [{"p": 4.0}, {"p": 5.0}]
    for _ in range(2):
        lines = np.zeros((2, 1))
        assert known.write(*shop, lines, slice(0, 1)) == [0, 1]
        known.keep(*shop, rows)
    assert known.write(*shop, lines, slice(0, 1)) == []
    assert lines.tolist() == rows.tolist()
