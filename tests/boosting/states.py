"""All that a model has learned, to compare byte for byte."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import DecisionError
from banditboost.models.ledger import Ledger


class Nothing(NamedTuple):
    """What a baseline knows of changes."""


def state_of(model: Any) -> dict[str, Any]:
    """Everything that a round may change, in a form that can be compared."""
    committee, identity = getattr(model, "_committee", None), getattr(model, "_identity", None)
    forest = {} if committee is None else committee.forest._asdict()
    return {
        **{name: bytes_of(array) for name, array in forest.items()},
        **{name: bytes_of(array, "rounds") for name, array in _leaves(model._state().learned)},
        **{name: bytes_of(array) for name, array in _leaves(getattr(model._state(), "watch", Nothing()))},
        "learners": pickle.dumps(getattr(committee, "learners", None)),
        "ledger": b"" if identity is None else bytes(identity.ledger.bits).rstrip(b"\0"),
        "below": []
        if identity is None
        else [(key, bytes(ledger.bits)) for key, ledger in identity._below.items()],
        "rounds": model.rounds,
        "settings": bytes_of(model._settings, "first_round"),
        "schema": (repr(model.schema), model.schema.by_position and not model.schema.declared),
        "memo": len(model._blank),
    }


def _leaves(state: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays and records of nested named tuples, by name."""
    for name, part in state._asdict().items():
        if hasattr(part, "_asdict"):
            yield from ((f"{name}.{inner}", leaf) for inner, leaf in _leaves(part))
        else:
            yield name, part


def bytes_of(array: Any, but_for: str = "") -> list[bytes]:
    """Of each field (but for one that is told apart): what lies between the fields of a record is not ours."""
    fields = array.dtype.names
    return [array[field].tobytes() for field in fields if field != but_for] if fields else [array.tobytes()]


def difference(one: Any, other: Any) -> list[str]:
    """The names of what differs between two models; empty if nothing does."""
    ours, theirs = state_of(one), state_of(other)
    return [name for name in ours if ours[name] != theirs[name]]


def refusal(ledger: Ledger, round_: int, rounds: int) -> str:
    """Why a verdict for this one of so many rounds cannot be learned; empty if it can."""
    try:
        ledger.check(round_, rounds)
    except DecisionError as error:
        return str(error)
    return ""
