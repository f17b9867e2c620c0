"""A model as the contents of a file: a header, and arrays by name."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from banditboost.errors import ModelFileError
from banditboost.io.container import Array, write
from banditboost.io.header import ModelHeader, versions
from banditboost.io.values import UnstorableError
from banditboost.weak_learners.custom import PythonCommittee
from banditboost.weak_learners.forest import TreeCommittee
from banditboost.weak_learners.hoeffding import HoeffdingTree

if TYPE_CHECKING:
    from banditboost.boosting.base import Booster


def save(model: Booster, path: str | os.PathLike[str]) -> None:
    """What `model.save` does."""
    if not type(model).__module__.startswith("banditboost."):
        raise ModelFileError(
            f"{os.fspath(path)}: {type(model).__name__} is not one of the library's boosters, and load could not make it again; pickle it"
        )
    try:
        arrays = _arrays_of(model)
        header = _header_of(model).to_json(arrays)
    except UnstorableError as error:
        raise ModelFileError(f"{os.fspath(path)}: the model cannot be saved with {error}") from None
    write(path, header, arrays)


def _header_of(model: Booster) -> ModelHeader:
    return ModelHeader(
        kind=type(model).__name__,
        versions=versions(),
        model_id=model.model_id,
        rounds=model.rounds,
        verdicts=model.verdicts,
        memory=model.memory_usage,
        labels=model.labels,
        parameters={**model.parameters, **({"weak_learner": _weak_learner(model.weak_learner)} if model.has_learners else {})},
        schema=model.schema.to_dict(),
        learners=model._committee.states() if isinstance(model._committee, PythonCommittee) else [],
    )


def _arrays_of(model: Booster) -> dict[str, Array]:
    trees = model._committee.arrays() if isinstance(model._committee, TreeCommittee) else {}
    return {**model._arrays(), **trees}


def _weak_learner(learner: Any) -> dict[str, Any]:
    """Trees with their parameters; of learners written elsewhere the name, to tell people which one `load` must be given."""
    if isinstance(learner, HoeffdingTree):
        return {"class": "HoeffdingTree", **asdict(learner)}
    made_by = learner if hasattr(learner, "__qualname__") else type(learner)
    return {"class": made_by.__qualname__, "module": made_by.__module__}
