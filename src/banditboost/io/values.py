"""Python values as JSON that gives them back with their types: labels, names of features, parameters, what
custom learners keep.

JSON's own kinds stand for themselves. Everything else is an object with one key that begins with a dollar
sign.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.text import quoted
from banditboost.validation import is_hashable

Array = np.ndarray[Any, Any]
_DEEPEST = 32  # levels of tuples, lists and dicts
_WIDEST_INT = 64  # bits; longer ones are written in hexadecimal, which takes linear time to read
_NUMPY = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_json_text = json.JSONEncoder(sort_keys=True).encode


class UnstorableError(ValueError):
    """A value that JSON cannot carry with its type."""


class UnreadableError(ValueError):
    """Something that no file or dict of ours would hold."""


def demand(good: Any, what: str) -> None:
    """Refuse what a file holds, unless it (all of it, if it is an array) is good.

    >>> demand(np.array([True, False]), "a weight is out of range")
    Traceback (most recent call last):
    banditboost.io.values.UnreadableError: a weight is out of range; load an intact copy
    """
    if not np.all(good):
        raise UnreadableError(f"{what}; load an intact copy")


def json_digest(value: Any, more: bytes = b"") -> str:
    """Sixteen characters that differ if a value of JSON's own kinds does, or the bytes after it.

    They are the same for the same numbers: some stores write 2.0 as 2, and minus zero as 0. Whatever is not
    JSON raises a TypeError, a ValueError or a RecursionError.

    >>> json_digest({"a": 2.0, "b": None}) == json_digest({"b": None, "a": 2})
    True
    """
    return hashlib.sha256(_json_text(_same_numbers(value)).encode() + more).hexdigest()[:16]


def _same_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_same_numbers(item) for item in value]
    return {key: _same_numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


def encode(value: Any, arrays: dict[str, Array] | None = None, depth: int = 0) -> Any:
    """A value as JSON. Arrays of numbers are put into `arrays`, if there is one, and named in the JSON."""
    if depth > _DEEPEST:
        raise UnstorableError(f"more than {_DEEPEST} levels of tuples, lists and dicts")
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind in (int, float):
        return _encode_number(value)
    if kind is tuple:
        return {"$tuple": [encode(item, arrays, depth + 1) for item in value]}
    if kind is list:
        return [encode(item, arrays, depth + 1) for item in value]
    if kind is dict:
        return _encode_dict(value, arrays, depth)
    if kind is bytes:
        return {"$bytes": value.hex()}
    if isinstance(value, np.generic):
        return {"$numpy": [_numpy_kind(value), encode(value.item())]}
    if kind is np.ndarray and arrays is not None and value.dtype.str[1:] in _NUMPY:
        name = f"values/{len(arrays)}"
        arrays[name] = value
        return {"$array": name}
    raise UnstorableError(
        f"{quoted(value)} of type {kind.__name__}; None, bool, int, float, str, bytes, tuples of these and "
        "NumPy's numbers can be stored"
    )


def _encode_number(value: int | float) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    return value if value.bit_length() <= _WIDEST_INT else {"$int": hex(value)}


def _encode_dict(value: dict[Any, Any], arrays: dict[str, Array] | None, depth: int) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: encode(item, arrays, depth + 1) for key, item in value.items()}
    return {
        "$dict": [
            [encode(key, None, depth + 1), encode(item, arrays, depth + 1)] for key, item in value.items()
        ]
    }


def _numpy_kind(value: np.generic) -> str:
    kind = "U" if isinstance(value, np.str_) else value.dtype.str[1:]
    if kind != "U" and kind not in _NUMPY:
        raise UnstorableError(
            f"{quoted(value)} of type {type(value).__name__}; of NumPy's values numbers, bools and strings "
            "can be stored"
        )
    return kind


def decode(data: Any, arrays: dict[str, Array] | None = None, depth: int = 0) -> Any:
    """The value that `encode` was given."""
    if depth > _DEEPEST:
        raise UnreadableError(f"values are nested more than {_DEEPEST} levels deep")
    if isinstance(data, list):
        return [decode(item, arrays, depth + 1) for item in data]
    if not isinstance(data, dict):
        return data
    tag = next(iter(data), "")
    if not isinstance(tag, str):
        raise UnreadableError(f"an object has the key {quoted(tag)}, and keys are strings")
    if not tag.startswith("$"):
        return {key: decode(item, arrays, depth + 1) for key, item in data.items()}
    if len(data) != 1:
        raise UnreadableError(f"an object has {tag!r} and other keys")
    if tag == "$array":
        return _named_array(data[tag], arrays)
    if tag == "$dict":
        return _decode_dict(data[tag], arrays, depth)
    if tag == "$tuple" and isinstance(data[tag], list):
        return tuple(decode(item, arrays, depth + 1) for item in data[tag])
    if tag == "$numpy":
        return _read_numpy(data[tag], depth)
    try:
        return _READERS[tag](data[tag])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _no_value(data) from None


def _named_array(name: Any, arrays: dict[str, Array] | None) -> Array:
    if arrays is None or not isinstance(name, str) or name not in arrays:
        raise UnreadableError(f"there is no array {quoted(name)}")
    return arrays[name]


def _decode_dict(pairs: Any, arrays: dict[str, Array] | None, depth: int) -> dict[Any, Any]:
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise UnreadableError("a dict is not a list of pairs")
    return {decode_hashable(key, depth + 1): decode(item, arrays, depth + 1) for key, item in pairs}


def decode_hashable(data: Any, depth: int = 0) -> Any:
    """A label, a name or a key."""
    value = decode(data, None, depth)
    if not is_hashable(value):
        raise UnreadableError(f"{quoted(value)} cannot be a label, a name or a key")
    return value


def _read_float(text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError
    return float(text)


def _read_numpy(pair: Any, depth: int) -> Any:
    kind, plain = pair if isinstance(pair, list) and len(pair) == 2 else ("", None)
    if kind == "U" and type(plain) is str:
        return np.str_(plain)
    value = decode(plain, None, depth + 1)
    if kind not in _NUMPY or type(value) is not {"b": bool, "f": float}.get(kind[0], int):
        raise _no_value({"$numpy": pair})
    try:
        return np.dtype(kind).type(value)
    except OverflowError:
        raise _no_value({"$numpy": pair}) from None


def _no_value(data: Any) -> UnreadableError:
    return UnreadableError(f"{quoted(data)} is no value")


_READERS: dict[str, Callable[[Any], Any]] = {
    "$int": lambda text: int(text, 16),
    "$float": _read_float,
    "$bytes": bytes.fromhex,
}
