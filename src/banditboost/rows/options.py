"""Options as people offer them: ids, and for each the features that it has now.

An option's features join a model's schema as `option.price`, `option.brand` and so on, so that the two sides
of a row never meet.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import FeatureError, LabelError
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_hashable

OPTION = "option"
PREFIX = f"{OPTION}."
_PLAIN = frozenset({str, int})
_REMEDY = "give a dict {id: features}, or a list of pairs (id, features)"


def code_of_id(id_: Hashable) -> int:
    """The number of an id: 32 bits, the same in all places and times; -1 if it has none."""
    text = _text_of(id_)
    return -1 if text is None else zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _text_of(id_: Hashable) -> str | None:
    """Ids that are equal have the same text."""
    if isinstance(id_, str):
        return f"s{str.__str__(id_)}"  # a text of an Enum shows itself otherwise
    if isinstance(id_, (bool, int, float, np.bool_, np.number)):
        number = id_.item() if isinstance(id_, np.generic) else id_
        if not isinstance(number, (bool, int, float)):
            return None
        is_whole = not isinstance(number, float) or number.is_integer()
        return f"n{int(number):x}" if is_whole else f"f{number!r}"
    if isinstance(id_, bytes):
        return f"b{id_.hex()}"
    if isinstance(id_, tuple):
        texts = [_text_of(part) for part in id_]
        return None if None in texts else f"t{texts!r}"
    return "None" if id_ is None else None


class Options(NamedTuple):
    """What is offered in one round."""

    ids: tuple[Hashable, ...]
    features: list[Mapping[Any, Any]]


def read_options(options: Any) -> Options:
    """Ids and features, after a look at both; a feature's value is looked at when it is coded."""
    if isinstance(options, Mapping):
        ids, given = tuple(options), list(options.values())
    else:
        ids, given = _of_pairs(options)
    if not ids:
        raise LabelError(f"options is empty; {_REMEDY}, with at least one option")
    if not _PLAIN.issuperset(map(type, ids)):
        for id_ in ids:
            if isinstance(id_, (float, np.floating)) and id_ != id_:
                raise LabelError(f"the id {quoted(id_)} is not equal to itself; give each option a name")
    if set(map(type, given)) == {dict}:
        return Options(ids, given)
    return Options(ids, [_named(id_, features) for id_, features in zip(ids, given, strict=True)])


def _of_pairs(options: Any) -> tuple[tuple[Hashable, ...], list[Any]]:
    try:
        pairs = None if isinstance(options, (str, bytes, set, frozenset)) else list(options)
    except Exception:  # an array without dimensions, or whatever a generator raises
        pairs = None
    if pairs is None:
        raise LabelError(f"options is {quoted(options)} of type {type(options).__name__}; {_REMEDY}")
    found: dict[Hashable, Any] = {}
    for place, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not _has_features(pair[1]):
            raise LabelError(f"options[{place}] is {quoted(pair)}; {_REMEDY}: (id, {{}}) if it has none")
        if not is_hashable(pair[0]):
            raise LabelError(f"the id {quoted(pair[0])} is not hashable; give strings, numbers or tuples")
        if pair[0] in found:
            raise LabelError(f"the id {quoted(pair[0])} is offered twice; offer each option once")
        found[pair[0]] = pair[1]
    return tuple(found), list(found.values())


def _has_features(given: Any) -> bool:
    return given is None or isinstance(given, (Mapping, list, tuple, np.ndarray)) or hasattr(given, "items")


def _named(id_: Hashable, features: Any) -> Mapping[Any, Any]:
    """An option's features as a mapping; None is an option without any."""
    if features is None:
        return {}
    try:
        return by_name(features)
    except FeatureError as error:
        raise FeatureError(f"option {quoted(id_)}: {error}") from None


def by_name(features: Any) -> Mapping[Any, Any]:
    """Features as a mapping: those of a list or an array are called x0, x1, ..."""
    if isinstance(features, Mapping):
        return features
    if isinstance(features, (list, tuple)) or (isinstance(features, np.ndarray) and features.ndim == 1):
        values = features.tolist() if isinstance(features, np.ndarray) else features
        return {f"x{i}": value for i, value in enumerate(values)}
    if hasattr(features, "items") and not isinstance(features, type):
        with suppress(TypeError, ValueError):
            return dict(features.items())
    raise FeatureError(
        f"the features are {quoted(features)} of type {type(features).__name__}; give a dict, or a list or "
        "array of numbers"
    )


def read_context(x: Any) -> Mapping[Any, Any]:
    """A context as a mapping, in which no name is one that features of options have."""
    named = by_name(x)
    for name in named:
        if name == OPTION or (isinstance(name, str) and name.startswith(PREFIX)):
            raise FeatureError(
                f"the context has the feature {quoted(name)}, a name that features of options have; give it "
                "another name"
            )
    return named


def sides(schema: Schema) -> Array:
    """Of each number of a coded row whether it is one of an option's."""
    return schema.following(_sides)


def _sides(schema: Schema) -> Array:
    names = (place.name for place in schema.places())
    return np.array([isinstance(name, str) and name.startswith(PREFIX) for name in names], np.bool_)


def places_of(ids: tuple[Hashable, ...], allowed: Any) -> Array | None:
    """Where the allowed options stand among those offered, in increasing order; None if all are allowed."""
    if allowed is None:
        return None
    try:
        among = None if isinstance(allowed, (str, bytes)) else set(allowed)
        places = [place for place, id_ in enumerate(ids) if among and id_ in among]
    except Exception:  # ids that cannot be hashed, or whatever a generator raises
        among = None
    if among is None or len(places) < len(among):
        raise LabelError(
            f"allowed is {quoted(allowed)}; give a list of some of the ids that are offered, which are "
            f"{quoted(ids[:10])}"
        )
    if not places:
        raise LabelError("allowed is empty; give at least one id, or leave it out to allow all options")
    return np.array(places) if len(places) < len(ids) else None
