"""What a model's file holds, without the names that are drawn anew for each model."""

from __future__ import annotations

import io
from typing import Any

from banditboost.io.container import read_from

_DRAWN = ("model_id", "identity")  # names of models and runs


def contents(file: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays, as they can be compared."""
    read = read_from(io.BytesIO(file), len(file))
    header = {name: value for name, value in read.header.items() if name not in _DRAWN}
    return header, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in read.arrays.items()}


def differing(first: bytes, second: bytes) -> list[str]:
    """The names of what differs between two models, in any bit; none if they are the same."""
    (header, arrays), (other_header, other_arrays) = contents(first), contents(second)
    return [
        name
        for one, other in ((header, other_header), (arrays, other_arrays))
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]
