"""What a model's file holds, told without loading the model."""

from __future__ import annotations

import os
from typing import Any

from banditboost.errors import ModelFileError
from banditboost.io.header import ModelHeader
from banditboost.io.upgrades import read_current
from banditboost.io.values import UnreadableError
from banditboost.validation import check_path


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Class, branch, parameters, labels, schema, rounds, verdicts, versions and memory of a saved model.

    The file is checked, the model not made.

    In `schema` a numeric feature has None, a nominal one the list of its values. Raises ModelFileError if the
    file cannot be read.
    """
    path = check_path("path", path)
    try:
        contents = read_current(path)
        header = ModelHeader.from_json(contents.header, contents.arrays)
        schema = _features(header.schema)
    except UnreadableError as error:
        raise ModelFileError(f"{path}: {error}") from None
    return {
        "class": header.kind,
        "model_id": header.model_id,
        "branch": header.identity.get("branch", ""),
        "rounds": header.rounds,
        "verdicts": header.verdicts,
        "logged": header.logged,
        "labels": header.labels,
        "schema": schema,
        "parameters": header.parameters,
        "memory": header.memory,
        "file_size": os.stat(path).st_size,
        "versions": header.versions,
    }


def _features(schema: dict[str, Any]) -> dict[Any, list[Any] | None]:
    names, values = schema.get("names"), schema.get("values")
    if not isinstance(names, list) or not isinstance(values, list):
        raise UnreadableError("the header's 'schema' has no names and values; load an intact copy")
    try:
        return dict(zip(names, values, strict=True))
    except (TypeError, ValueError):
        raise UnreadableError(
            "the header's 'schema' is not a name and a list of values for each feature; load an intact copy"
        ) from None
