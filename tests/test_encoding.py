"""Dict rows coded by a plan: as name by name, to the last bit."""

from __future__ import annotations

import enum
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import GapBoost, Schema
from banditboost.errors import FeatureError
from banditboost.rows.encoding import Encoder


class Device(str, enum.Enum):  # noqa: UP042 (as in code of before Python 3.11: str() of it is another word)
    PHONE = "phone"


NAMES = {"hour": "numeric", "device": "nominal", "age": "numeric", "city": "nominal", 7: "numeric"}
SCHEMA = Schema.of(list(NAMES), list(NAMES.values()), [None, ["phone", "tv"], None, ["Rome"], None])
NUMBERS = st.floats(allow_nan=True) | st.integers() | st.sampled_from([10**400, 1e100, -0.0])
WORDS = st.sampled_from(["phone", "tv", "Rome", "3", "nowhere", ""])
ODD = st.sampled_from(
    [
        None,
        True,
        np.float64(2.5),
        np.int64(3),
        Decimal("0.1"),
        Device.PHONE,
        np.str_("tv"),
        np.array(1.0),
        [1],
    ]
)


@st.composite
def rows(draw: st.DrawFn) -> dict[Any, Any]:
    """Mostly full rows of good values, in any order."""
    names = draw(st.permutations([*NAMES, "new"]))
    kept = [name for name in names if name in NAMES and draw(st.integers(0, 9)) > 0]
    good = {name: NUMBERS if NAMES[name] == "numeric" else WORDS for name in kept}
    return {name: draw(good[name] if draw(st.integers(0, 9)) else NUMBERS | WORDS | ODD) for name in kept}


def by_name(row: dict[Any, Any]) -> list[float] | None:
    """Without a plan; numbers that are too large, and NaN, as they are."""
    out = np.full(len(NAMES), np.nan)
    for place, (name, kind) in enumerate(NAMES.items()):
        value = row.get(name, math.nan)
        if name in row and type(value) not in ((int, float) if kind == "numeric" else (str,)):
            return None
        values = SCHEMA.values(name)
        if isinstance(value, str) and value not in values:
            return None
        try:
            out[place] = values.index(value) if isinstance(value, str) else float(value)
        except OverflowError:
            return None
    return out.tolist()


def same(one: list[float] | None, other: list[float] | None) -> bool:
    return (
        one == other if one is None or other is None else np.array(one).tobytes() == np.array(other).tobytes()
    )


@given(rows=st.lists(rows(), min_size=1, max_size=6))
def test_a_plan_codes_what_going_by_name_codes(rows: list[dict[Any, Any]]) -> None:
    encoder = Encoder(SCHEMA)
    for row in [row for row in rows for _ in range(2)]:
        coded, out = encoder.encode(row), np.full(len(SCHEMA), np.nan)
        if SCHEMA.encode(row, out):
            assert coded is not None
            assert coded.tobytes() == out.tobytes()
        elif coded is not None:  # what the schema leaves to its longer way: NaN, and numbers too large
            assert same(coded.tolist(), by_name(row))


def test_a_row_with_half_of_the_columns_and_a_word_that_is_0() -> None:
    model = GapBoost(["yes", "no"], seed=1)
    model.decide({f"f{i}": 2.0 for i in range(64)})
    for _ in range(2):
        row = {**{f"f{i}": 2.0 for i in range(31)}, "word": 0}
        assert model.decide(row).label in ("yes", "no")
    assert len(model.schema.names) == 64


def test_a_row_that_was_coded_may_be_kept() -> None:
    encoder = Encoder(SCHEMA)
    row = {"hour": 1.0, "device": "tv", "age": 2, "city": "Rome", 7: 3}
    kept = [encoder.encode(row | {"hour": hour}) for hour in range(4)]
    assert [coded[0] for coded in kept if coded is not None] == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("value", [1e101, 10**101, math.inf, -math.inf, 10**400])
@pytest.mark.parametrize("allowed", [None, ["yes", "no"]])
def test_a_number_too_large_is_refused_as_it_was_given(value: float, allowed: list[str] | None) -> None:
    fresh, model = (GapBoost(["yes", "no", "so"], schema=SCHEMA, seed=1) for _ in range(2))
    row = {"hour": 1.0, "device": "tv", "age": 2, "city": "Rome", 7: 3}
    for _ in range(3):
        model.decide(row, allowed)
    told = []
    for refusing in (fresh, model):
        with pytest.raises(FeatureError) as refused:
            refusing.decide(row | {"age": value}, allowed)
        told.append(str(refused.value))
        assert refused.value.__cause__ is None
    assert told[0] == told[1]
    assert model.rounds == 3


def test_values_that_join_are_known_to_the_next_plan() -> None:
    model = GapBoost(["yes", "no"], seed=1)
    rows = [{"a": t, "b": f"v{t % 5}", "c": 1.0} for t in range(12)]
    for row in rows:
        model.learn(model.decide(row), correct=True)
    assert model.schema.values("b") == ("v0", "v1", "v2", "v3", "v4")
    told = [model.decide(row)._memo[-3:].tolist() for row in rows]
    assert told == [[float(t), float(t % 5), 1.0] for t in range(12)]


def test_values_that_share_are_coded_by_a_plan_as_name_by_name() -> None:
    """And noted alike; the row with which one gets its place is left to the longer way."""
    told = [{"a": float(t), "id": f"v{t % 40 if t > 60 else t}", "b": "x"} for t in range(90)]
    planned, named = Schema(), Schema()
    for row in told:
        encoder, out = Encoder(planned), np.full(len(named), np.nan)
        if len(planned):
            encoder.encode({"a": 1.0, "id": "v0", "b": "x"})  # makes the plan
        known = named.encode(row, out)
        coded = encoder.encode(row)
        assert (coded is not None) == known
        if coded is None:
            assert planned.code(row).tolist() == named.code(row).tolist()
        else:
            assert coded.tolist() == out.tolist()
        assert planned.to_dict() == named.to_dict()
    assert planned.shares
    assert len(planned.values("id")) > 8
