"""Features of Rank requests under the names of our models."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.errors import FeatureError
from banditboost.rows.options import OPTION
from banditboost.rows.options import read_context as by_name_of_context
from banditboost.rows.schema import Schema
from banditboost.serve.http.personalizer.features import read_context, read_features
from banditboost.serve.http.personalizer.rank import read_rank
from banditboost.serve.problems import ServiceError


def read(*objects: Any) -> dict[str, Any]:
    return read_features(objects, "contextFeatures", 8)


def test_lists_are_merged_and_namespaces_are_parts_of_names() -> None:
    assert read({"hour": 9}, {"user": {"age": 31, "pro": True}}, {"user": {"plan": "free"}}) == {
        "hour": 9,
        "user.age": 31,
        "user.pro": True,
        "user.plan": "free",
    }


def test_names_that_begin_with_an_underscore_are_ignored_at_every_level() -> None:
    assert read({"_id": 7, "user": {"_name": "x", "age": 1}, "_": {"a": 1}, "a_b": 2}) == {
        "user.age": 1,
        "a_b": 2,
    }


def test_null_is_the_text_null() -> None:
    assert read({"age": None}) == {"age": "null"}


def test_arrays_of_numbers_are_features_by_their_places() -> None:
    assert read({"grams": [400, 800.5], "none": [], "tags": ["new", "hot"]}) == {
        "grams.0": 400,
        "grams.1": 800.5,
        "tags": ["new", "hot"],
    }


def test_a_name_that_comes_again_is_a_feature_of_its_own() -> None:
    assert read({"tag": "a"}, {"tag": "b"}, {"tag#2": "c"}, {"tag": "d"}) == {
        "tag": "a",
        "tag#2": "b",
        "tag#2#2": "c",
        "tag#3": "d",
    }
    assert read({"user": {"age": 1}, "user.age": 2}) == {"user.age": 1, "user.age#2": 2}


def test_a_context_may_use_the_names_of_options() -> None:
    given = [{"option": "x", "context.option": 1}, {"option": {"price": 3}}, {"options": 2}]
    assert read_context(given, "contextFeatures", 8) == {
        "context.option": 1,
        "context.option#2": "x",
        "context.option.price": 3,
        "options": 2,
    }


@pytest.mark.parametrize("value", [[1, "a"], [[1]], [{"a": 1}], [True], [None]])
def test_other_arrays_are_refused(value: Any) -> None:
    with pytest.raises(
        ServiceError, match=r"contextFeatures\[1\]\.x\.y is .*; give an array of numbers"
    ) as told:
        read({}, {"x": {"y": value}})
    assert told.value.field == "contextFeatures[1].x.y"


def test_objects_have_a_greatest_depth() -> None:
    deep: Any = 1
    for _ in range(8):
        deep = {"x": deep}
    assert read(deep) == {".".join("x" * 8): 1}
    with pytest.raises(ServiceError, match="too deep"):
        read({"x": deep})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
NAMES = st.sampled_from(["option", "option.price", "user", "user.age", "_x", "tag", "tag#2", "", "x0"])
FEATURES = st.lists(
    st.dictionaries(
        NAMES,
        st.none()
        | st.booleans()
        | st.integers(-9, 9)
        | st.text(max_size=2)
        | st.dictionaries(NAMES, st.just(1)),
        max_size=4,
    ),
    max_size=3,
)


def joint(features: bytes, options: bytes | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """A context and options, after they were coded as a model codes them."""
    x, offered = msgspec.json.decode(features), msgspec.json.decode(options or b"")
    schema, of_context = Schema(), by_name_of_context(x)
    for one in offered.values():
        schema.code({**of_context, OPTION: one})
    return x, offered


@given(context=FEATURES, features=FEATURES)
def test_whatever_is_read_a_model_can_take(context: list[Any], features: list[Any]) -> None:
    """Of names that collide, none is lost, and none is refused by the model."""
    body = {"contextFeatures": context, "actions": [{"id": "a", "features": features}, {"id": "b"}]}
    asked = read_rank(msgspec.json.encode(body), 8)
    x, options = joint(asked.decision.features, asked.decision.options)

    def leaves(given: Any) -> int:
        if not isinstance(given, dict):
            return 1
        return sum(leaves(value) for name, value in given.items() if not name.startswith("_"))

    assert len(x) == sum(map(leaves, context))
    assert len(options["a"]) == sum(map(leaves, features))


@given(JSON)
def test_whatever_comes_is_read_or_refused(body: Any) -> None:
    for sent in (body, {"actions": body}, {"actions": [{"id": "a"}], "contextFeatures": [body]}):
        with suppress(ServiceError):
            asked = read_rank(msgspec.json.encode(sent), 8)
            with suppress(FeatureError):
                joint(asked.decision.features, asked.decision.options)
