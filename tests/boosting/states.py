"""All that a model has learned, to compare byte for byte."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np


def state_of(model: Any) -> dict[str, Any]:
    """Everything that a round may change, in a form that can be compared."""
    committee = model._committee
    forest = {name: bytes_of(array) for name, array in committee.forest._asdict().items()} if hasattr(committee, "forest") else {}
    learners = pickle.dumps(getattr(committee, "learners", None))
    ledger = bytes(model._ledger._bits).rstrip(b"\0") if hasattr(model, "_ledger") else b""
    linear = {name: array.tobytes() for name, array in model._linear.arrays().items()} if hasattr(model, "_linear") else {}
    return {
        **forest,
        **linear,
        "learners": learners,
        "ledger": ledger,
        "rounds": model.rounds,
        "settings": bytes_of(model._settings),
        "weights": model._weights.tobytes(),
        "tally": model._tally.tobytes(),
        "schema": (repr(model.schema), model.schema.by_position and not model.schema.declared),
        "features": bytes_of(committee.features),
        "memo": len(model._blank),
    }


def bytes_of(array: np.ndarray) -> list[bytes]:
    """Of each field: what lies between the fields of a record is not ours."""
    return [array[field].tobytes() for field in array.dtype.names] if array.dtype.names else [array.tobytes()]


def difference(one: Any, other: Any) -> list[str]:
    """The names of what differs between two models; empty if nothing does."""
    ours, theirs = state_of(one), state_of(other)
    return [name for name in ours if ours[name] != theirs[name]]
