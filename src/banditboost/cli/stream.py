"""A stream cut into blocks, so that progress can be shown and Ctrl-C loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import typer

from banditboost import datasets
from banditboost.cli.data_choice import DataChoice
from banditboost.datasets.rewards import RewardColumns
from banditboost.errors import FeatureError, LabelError
from banditboost.rows.bags import WordedRows

if TYPE_CHECKING:
    from banditboost.models.model import Model
    from banditboost.rows.schema import Schema

_BLOCKS = 100
_SMALLEST, _LARGEST = 500, 20_000
Block = tuple[Any, Any]
"""Rows, and right labels or rewards, as `play` takes them."""


class Rounds(Protocol):
    """What `run` plays: labels, features, and blocks of rounds."""

    labels: tuple[str, ...]
    count: int
    """How many rounds there are."""
    rewards: RewardColumns | None
    """Of a stream with rewards."""

    @property
    def words(self) -> tuple[str, ...]:
        """Columns of words."""

    def leave_words_out(self) -> None:
        """For a model that cannot read them."""

    def schema(self) -> Schema: ...

    def describe(self) -> str: ...

    def blocks(self, skip: int) -> Iterator[Block]: ...


def open_rounds(choice: DataChoice, seed: int, rewards: tuple[str, ...] = ()) -> Rounds:
    """From memory, or from the disk if the file is large; `rewards` are columns of them."""
    return _FromDisk(choice, rewards) if choice.is_large else _InMemory(choice, seed, rewards)


class _InMemory:
    def __init__(self, choice: DataChoice, seed: int, rewards: tuple[str, ...]) -> None:
        self._table = choice.load(rewards)
        order = seed if choice.shuffle or not choice.is_file else None
        self._stream = self._table.stream(repeat=choice.times, seed=order, rounds=choice.rounds)
        self.labels: tuple[str, ...] = self._stream.labels
        self.count = self._stream.rounds
        self.rewards: RewardColumns | None = self._stream.reward_columns

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self._stream.words)

    def leave_words_out(self) -> None:
        self._table, self._stream = self._table.without_words(), self._stream.without_words()

    def schema(self) -> Schema:
        made: Schema = self._stream.schema()
        return made

    def describe(self) -> str:
        return str(self._table.describe())

    def blocks(self, skip: int) -> Iterator[Block]:
        X, y = self._stream.to_play().values()
        size = min(_LARGEST, max(_SMALLEST, len(y) // _BLOCKS))
        for start in range(skip, len(y), size):
            yield X[start : start + size], y[start : start + size]


class _FromDisk:
    def __init__(self, choice: DataChoice, rewards: tuple[str, ...]) -> None:
        if choice.shuffle or choice.times > 1:
            raise typer.BadParameter(
                f"{choice.data} is too large to be shuffled or repeated in memory; shuffle the file itself, "
                "or play it in order"
            )
        self._file = datasets.open_file(choice.data, choice.label, rewards=rewards, **choice.reading)
        self.labels: tuple[str, ...] = self._file.labels
        self.rewards: RewardColumns | None = self._file.reward_columns
        self.count = self._file.n_rows if choice.rounds is None else min(choice.rounds, self._file.n_rows)

    @property
    def words(self) -> tuple[str, ...]:
        return self._file.words

    def leave_words_out(self) -> None:
        self._file = self._file.without_words()

    def schema(self) -> Schema:
        return self._file.schema()

    def describe(self) -> str:
        return str(self._file.describe())

    def blocks(self, skip: int) -> Iterator[Block]:
        start = 0
        for X, y in self._file.batches(_LARGEST):
            first, last = max(0, skip - start), min(len(y), self.count - start)
            start += len(y)
            if first < last:
                yield X[first:last], y[first:last]
            if start >= self.count:
                return


def for_model(model: Model, rounds: Rounds, blocks: Iterator[Block]) -> Iterator[Block]:
    """Blocks in the codes that a model knows.

    A saved model may have met labels and values in another order; it is then told their names.
    """
    unknown = [label for label in rounds.labels if label not in model.labels]
    if unknown:
        raise LabelError(
            f"label {unknown[0]!r} is not one of the saved model's "
            f"({', '.join(map(str, model.labels[:10]))}); begin a new model"
        )
    schema = rounds.schema()
    _check_words(model.schema, rounds.words)
    if model.labels == rounds.labels and _codes_agree(model.schema, schema):
        return blocks
    if rounds.rewards is not None:
        return ((named(schema, X), R[:, _places(model, rounds)]) for X, R in blocks)
    return ((named(schema, X), [rounds.labels[code] for code in y.tolist()]) for X, y in blocks)


def _places(model: Model, rounds: Rounds) -> list[int]:
    """Where the rewards of the model's labels stand in the stream's rows."""
    lacking = [label for label in model.labels if label not in rounds.labels]
    if lacking:
        raise LabelError(
            f"the saved model has the label {lacking[0]!r}, of which no column tells rewards: name one for "
            f"each of {', '.join(map(str, model.labels[:10]))}, or begin a new model"
        )
    return [rounds.labels.index(str(label)) for label in model.labels]


def _check_words(mine: Schema, words: tuple[str, ...]) -> None:
    strange = [name for name in words if mine.declared and name not in mine.words]
    if strange:
        raise FeatureError(
            f"column {strange[0]!r} is text, which the saved model has not been told of; leave it out with "
            f"ignore=[{strange[0]!r}], or begin a new model"
        )


def _codes_agree(mine: Schema, other: Schema) -> bool:
    if mine.names != other.names or mine.kinds != other.kinds:
        return False
    return all(mine.values(name)[: len(other.values(name))] == other.values(name) for name in other.names)


def named(schema: Schema, X: Any) -> list[dict[Any, Any]]:
    """Coded rows as dicts, missing values left out; words are told by number."""
    if isinstance(X, list):
        return X
    return list((X if isinstance(X, WordedRows) else WordedRows(X, ())).rows(schema))
