"""What is to be played: data x learner x parameters x seed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from banditboost.datasets.tables.folders import files_of, title_of
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.references import reference_to, typed_name
from banditboost.text import quoted, visible
from banditboost.validation import check_count

_ID_DIGITS = 16
_BLOCK = 1 << 20
_MOST_BITS = 1024  # of a whole number: Python writes no thousands of digits
_LARGEST_SEED = 2**128


@dataclass(frozen=True)
class Source:
    """Where the rounds come from: a built-in data set or a file.

    It also says how often its rows are repeated, and where the stream is cut. A file is known by its content:
    `Source.file` notes its sha256, and moving it changes no id.

    >>> Source("car", repeat=6).to_dict()
    {'name': 'car', 'repeat': 6}
    >>> Source.from_dict({"name": "car", "repeat": 6}).repeat
    6
    """

    name: str
    """The name of a built-in data set, or what a file is called in tables."""
    variant: str = "paper"
    path: str | None = None
    label: str | None = None
    """The file's column of right labels."""
    sha256: str | None = None
    numeric: tuple[str, ...] = ()
    """Columns of the file that are to be numbers, nominal, or left out, whatever they look like."""
    nominal: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    encoding: str | None = None
    """Of a text file, with its separator and its decimal mark; None is what `read` finds."""
    separator: str | None = None
    decimal: str | None = None
    repeat: int = 1
    rounds: int | None = None
    """The stream is cut to so many rounds; None plays all of it."""
    shuffle: bool = True
    """False plays a file in its own order, so that a seed is the model's alone."""

    def __post_init__(self) -> None:
        self._check_kinds()
        if self.path is None and not self.shuffle:
            raise ExperimentError(
                f"shuffle is False for the data set {self.name!r}, whose rows come sorted; leave it out"
            )
        if self.path is not None and (self.label is None or self.sha256 is None):
            raise ExperimentError(
                f"path is {self.path!r} without label and sha256; make the source with Source.file(path, "
                "label)"
            )

    def _check_kinds(self) -> None:
        for name in ("name", "variant", "path", "label", "sha256", "encoding", "separator", "decimal"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("name", "variant")):
                raise ExperimentError(f"{name} is {quoted(value)}; give a text")
        for name in ("numeric", "nominal", "dates", "words", "ignore"):
            value = getattr(self, name)
            if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
                raise ExperimentError(f"{name} is {quoted(value)}; give a tuple of names of columns")
            object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "repeat", check_count("repeat", self.repeat, 1))
        if self.rounds is not None:
            object.__setattr__(self, "rounds", check_count("rounds", self.rounds, 0))
        if not isinstance(self.shuffle, bool):
            raise ExperimentError(f"shuffle is {quoted(self.shuffle)}; give True or False")

    @classmethod
    def file(cls, path: str | os.PathLike[str], label: str, **others: Any) -> Source:
        """A file, folder or pattern of files, and its label column, as it is now.

        `others` are the other fields.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise ExperimentError(f"path is {quoted(path)}; give the path of a file")
        try:
            absolute = Path(path).resolve()
        except (OSError, ValueError):
            raise ExperimentError(
                f"path is {quoted(path)}, which can be no file; check the spelling"
            ) from None
        return cls(
            **{"name": title_of(path), **others}, path=str(absolute), label=label, sha256=sha256_of(absolute)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what is at its default: so a field that is added later changes no id."""
        given = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if getattr(self, item.name) != item.default
        }
        return {name: _plain(value) for name, value in given.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Source:
        _refuse_unknown("source", values, {item.name for item in fields(cls)})
        if "name" not in values:
            raise ExperimentError("the source lacks 'name'; give the whole dict of to_dict")
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**given)

    def identity(self) -> dict[str, Any]:
        """What an id depends on."""
        values = self.to_dict()
        return (
            values
            if self.path is None
            else {name: value for name, value in values.items() if name not in ("name", "path")}
        )


@dataclass(frozen=True)
class Task:
    """One run: a learner with its parameters over a source. The seed shuffles the stream and is the model's.

    >>> task = Task(Source("car", repeat=6), "AdaBandit", {"n_learners": 15, "exploration": 0.001}, seed=4)
    >>> task.id
    '7c27b7be2930ddd5'
    >>> Task.from_dict(task.to_dict()).seed
    4
    """

    source: Source
    learner: str
    """A learner of the package by name, or a class of one's own.

    The latter is given as such or as "package.module:Class".
    """
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Plain data, such as n_learners, exploration, grace_period; a range is a list of two numbers.

    A class, such as a `weak_learner` of one's own, becomes a reference, "package.module:Class".
    """
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.learner, str):
            object.__setattr__(self, "learner", reference_to(self.learner))
        if not isinstance(self.source, Source):
            raise ExperimentError(f"source is {quoted(self.source)}; give a Source")
        if not isinstance(self.parameters, Mapping):
            raise ExperimentError(f"parameters is {quoted(self.parameters)}; give a dict")
        try:
            object.__setattr__(self, "parameters", _plain(self.parameters))
        except RecursionError:
            raise ExperimentError("parameters are nested without end; give flat ones") from None
        object.__setattr__(self, "seed", check_count("seed", self.seed, 0, _LARGEST_SEED))

    @cached_property
    def id(self) -> str:
        """16 hexadecimal digits that depend on the task alone.

        Equal tasks have equal ids, everywhere and always.
        """
        identity = {**self.to_dict(), "source": self.source.identity()}
        canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:_ID_DIGITS]

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source.to_dict(),
            "learner": self.learner,
            "parameters": dict(self.parameters),
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Task:
        known = {item.name for item in fields(cls)}
        _refuse_unknown("task", values, known)
        if known - set(values):
            raise ExperimentError(
                f"the task lacks {min(known - set(values))!r}; give the whole dict of to_dict"
            )
        return cls(
            Source.from_dict(values["source"]), values["learner"], values["parameters"], values["seed"]
        )

    def __str__(self) -> str:
        return visible(f"{typed_name(self.learner, self.parameters)} on {self.source.name}, seed {self.seed}")


def sha256_of(path: Path) -> str:
    """Of the content of a file, or of the names and contents of all files of a folder or pattern."""
    try:
        files = files_of(path)
        if files is None:
            return _sha256_of_file(path)
        named = zip(files.names(), map(_sha256_of_file, files.paths), strict=True)
        return hashlib.sha256(json.dumps(list(named)).encode()).hexdigest()
    except OSError as error:
        raise ExperimentError(
            f"cannot read {path}: {error.strerror}; give the path of a file that is there"
        ) from None


def _sha256_of_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """What JSON knows, each number in one spelling: 5.0 is 5, so that equal tasks have equal ids."""
    if isinstance(value, Mapping):
        return {visible(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (type, FunctionType)):
        return reference_to(value)
    if (
        value is None
        or isinstance(value, str)
        or (isinstance(value, int) and value.bit_length() <= _MOST_BITS)
        or (isinstance(value, float) and np.isfinite(value))
    ):
        return value
    raise ExperimentError(
        f"parameters hold {quoted(value)}, which is no plain data; "
        "give finite numbers, strings, booleans, lists of these, or a class of a module"
    )


def _refuse_unknown(what: str, values: Mapping[str, Any], known: set[str]) -> None:
    if not isinstance(values, Mapping):
        raise ExperimentError(f"the {what} is {quoted(values)}; give the dict of to_dict")
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ExperimentError(
            f"the {what} has {quoted(unknown[0])}, which this version of banditboost does not know; "
            "use the one that wrote it"
        )
