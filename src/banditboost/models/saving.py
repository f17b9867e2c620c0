"""A model as the contents of a file: a header, and arrays by name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from banditboost.errors import ModelFileError
from banditboost.io.container import packed, write
from banditboost.io.header import ModelHeader, versions
from banditboost.io.values import UnstorableError
from banditboost.types import Array
from banditboost.validation import check_path

if TYPE_CHECKING:
    from banditboost.models.model import Model


def check_kind(model: Model, path: str | os.PathLike[str]) -> None:
    """Refuse a model that `load` could not make again."""
    path = check_path("path", path)
    if not type(model).__module__.startswith("banditboost."):
        raise ModelFileError(
            f"{path}: {type(model).__name__} is not one of the library's boosters, and load could "
            "not make it again; pickle it"
        )


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """What `model.save` does."""
    check_kind(model, path)
    write(path, *_contents(model, path))


def to_bytes(model: Model, name: str) -> bytes:
    """What `save` would write to a file of this name."""
    check_kind(model, name)
    return packed(*_contents(model, name))


def _contents(model: Model, path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        arrays = model._arrays()
        return _header_of(model).to_json(arrays), arrays
    except UnstorableError as error:
        raise ModelFileError(f"{path}: the model cannot be saved with {error}") from None


def _header_of(model: Model) -> ModelHeader:
    return ModelHeader(
        kind=type(model).__name__,
        versions=versions(),
        model_id=model.model_id,
        rounds=model.rounds,
        verdicts=model.verdicts,
        memory=model.memory_usage,
        labels=model.labels,
        parameters=model._plain_parameters(),
        schema=model._schema.to_dict(),
        learners=model._learner_states(),
        identity=model._plain_identity(),
        removed=[]
        if model._active is None
        else np.setdiff1d(range(len(model.labels)), model._active).tolist(),
        logged=model.logged,
    )
