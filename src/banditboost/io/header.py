"""The header of a model's file: what `describe` tells and what `load` makes the model from."""

from __future__ import annotations

import platform
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from banditboost._version import __version__
from banditboost.io.values import Array, UnreadableError, decode, decode_hashable, encode

MOST_ROUNDS = 2**52
"""After so many a model decides no more, nor learns more verdicts of its branches.

Rounds, and verdicts of both kinds together, are counted as floats, too, which are exact up to twice as much.
"""


@dataclass(frozen=True)
class ModelHeader:
    """All of a model that is not an array."""

    kind: str  # the booster's class
    versions: dict[str, Any]  # of what wrote the file
    model_id: str
    rounds: int
    verdicts: int
    memory: int  # bytes that the model held
    labels: tuple[Hashable, ...]
    parameters: dict[str, Any]
    schema: dict[str, Any]
    learners: list[Any]  # what custom weak learners keep
    identity: dict[str, Any]  # branch and runs of a model with decisions; files of older versions tell none
    removed: list[int]  # indices of labels that are not shown any more
    logged: int  # rows of logs that were learned

    def to_json(self, arrays: dict[str, Array]) -> dict[str, Any]:
        """The header; arrays that learners keep go to `arrays`."""
        return {
            "class": self.kind,
            "versions": encode(self.versions),
            "model_id": self.model_id,
            "rounds": self.rounds,
            "verdicts": self.verdicts,
            "memory": self.memory,
            "labels": [encode(label) for label in self.labels],
            "parameters": encode(self.parameters),
            "schema": encode(self.schema),
            "learners": encode(self.learners, arrays),
            **({"identity": encode(self.identity)} if self.identity else {}),
            **({"removed": self.removed} if self.removed else {}),
            **({"logged": self.logged} if self.logged else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], arrays: dict[str, Array]) -> ModelHeader:
        rounds = _count(data, "rounds", MOST_ROUNDS)
        identity = _named(data, "identity") if "identity" in data else {}
        elsewhere = _count(identity, "verdicts_elsewhere", MOST_ROUNDS) if identity else 0
        verdicts = _count(data, "verdicts", rounds + elsewhere)
        if elsewhere > verdicts:
            raise UnreadableError(
                "the header tells of more verdicts elsewhere than in all; load an intact copy"
            )
        return cls(
            kind=_of(data, "class", str),
            versions=_named(data, "versions"),
            model_id=_of(data, "model_id", str),
            rounds=rounds,
            verdicts=verdicts,
            memory=_count(data, "memory", 2**63),
            labels=tuple(decode_hashable(label) for label in _of(data, "labels", list)),
            parameters=_named(data, "parameters"),
            schema=_named(data, "schema"),
            learners=decode(_of(data, "learners", list), arrays),
            identity=identity,
            removed=_indices(data, "removed") if "removed" in data else [],
            logged=_count(data, "logged", MOST_ROUNDS) if "logged" in data else 0,
        )


def versions() -> dict[str, Any]:
    """What writes a file."""
    return {"banditboost": __version__, "python": platform.python_version(), "numpy": np.__version__}


def _of(data: dict[str, Any], key: str, kind: type) -> Any:
    if type(data.get(key)) is not kind:
        raise UnreadableError(
            f"the header's {key!r} is missing or not of type {kind.__name__}; load an intact copy"
        )
    return data[key]


def _named(data: dict[str, Any], key: str) -> dict[str, Any]:
    values = decode(_of(data, key, dict))
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise UnreadableError(f"the header's {key!r} is not a set of names and values; load an intact copy")
    return values


def _indices(data: dict[str, Any], key: str) -> list[int]:
    found: list[int] = _of(data, key, list)
    if not all(type(index) is int and 0 <= index < 2**31 for index in found):
        raise UnreadableError(f"the header's {key!r} is not a list of indices; load an intact copy")
    return found


def _count(data: dict[str, Any], key: str, most: int) -> int:
    count: int = _of(data, key, int)
    if not 0 <= count <= most:
        raise UnreadableError(
            f"the header's {key!r} is {str(count)[:40]}, not from 0 to {most}; load an intact copy"
        )
    return count
