"""The data of a command: from what was typed to a stream of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from banditboost import datasets
from banditboost.cli import options
from banditboost.datasets.tables.folders import is_glob, size_of, title_of
from banditboost.experiments.protocol import PRINTED, STREAMS, Printed

if TYPE_CHECKING:
    from banditboost.experiments.task import Source

LARGEST_IN_MEMORY = 256 * 2**20
"""Bytes; larger files are streamed."""
_OF_COLUMNS = ("numeric", "nominal", "dates", "words", "ignore")
_OF_TEXT = ("encoding", "separator", "decimal")


class Look(NamedTuple):
    """What is to be said of a file before it is played many times."""

    described: str
    words: tuple[str, ...]
    """Its columns of words."""


@dataclass(frozen=True)
class DataChoice:
    """A built-in set or a file, and how it becomes a stream.

    These are the fifteen options that `run`, `compare` and `tune` share.

    >>> DataChoice("car", rounds=100).times
    6
    """

    data: options.Data
    label: options.Label = None
    repeat: options.Repeat = None
    rounds: options.Rounds = None
    shuffle: options.Shuffle = None
    numeric: options.Numeric = None
    nominal: options.Nominal = None
    dates: options.Dates = None
    words: options.Words = None
    ignore: options.Ignore = None
    encoding: options.Encoding = None
    separator: options.Separator = None
    decimal: options.Decimal = None
    variant: options.VariantOf = options.Variant.paper
    directory: options.DataDirectory = None

    @property
    def is_file(self) -> bool:
        return self.data not in datasets.names()

    @property
    def name(self) -> str:
        return title_of(self.data) if self.is_file else self.data

    @property
    def times(self) -> int:
        """How often the rows are played: as in the paper, or a file once."""
        return self.repeat if self.repeat is not None else 1 if self.is_file else STREAMS[self.data].repeat

    def check(self, *, has_rewards: bool = False) -> None:
        """Refuse what cannot be meant, before anything is read."""
        if not self.is_file:
            self._check_built_in()
        elif not Path(self.data).exists() and not is_glob(self.data):
            known = ", ".join(datasets.names())
            raise typer.BadParameter(
                f"{self.data!r} is neither a data set ({known}) nor a file; check the spelling"
            )
        elif self.label is None and not has_rewards:
            raise typer.BadParameter(
                f"{self.data} is a file: name its column of right labels with --label COLUMN; "
                "banditboost data check proposes one, and looks at all columns"
            )

    def _check_built_in(self) -> None:
        for option in ("label", *_OF_COLUMNS, *_OF_TEXT):
            if getattr(self, option):
                raise typer.BadParameter(
                    f"--{option} is for files; {self.data} is a built-in data set, so leave it out"
                )
        if self.shuffle is False:
            raise typer.BadParameter(
                f"--in-order is for files; the rows of {self.data} come sorted, so they are always shuffled"
            )

    @property
    def is_large(self) -> bool:
        return self.is_file and size_of(self.data) > LARGEST_IN_MEMORY

    @property
    def reading(self) -> dict[str, Any]:
        """What the user says of the columns of a file, and of how it is written."""
        columns = {kind: options.names(getattr(self, kind)) for kind in _OF_COLUMNS}
        return {**columns, **{option: getattr(self, option) for option in _OF_TEXT}}

    def load(self, rewards: tuple[str, ...] = ()) -> Any:
        """All rows in memory: a Dataset or a Table."""
        if self.is_file:
            return datasets.read(self.data, self.label, rewards=rewards, **self.reading)
        return datasets.load(self.data, self.variant.value, self.directory)

    def look(self) -> Look:
        """What the columns of a file were taken for.

        Reading the file once shows early whether tasks can be made of it.
        """
        if self.is_large:
            raise typer.BadParameter(
                f"{self.data} is too large to be kept in memory for many runs; "
                "take a part of it, or play it once with run"
            )
        table = self.load() if self.is_file else None
        return Look("", ()) if table is None else Look(str(table.describe()), table.words)

    def printed(self, learner: str) -> Printed | None:
        """The paper's figures, if this is the paper's stream."""
        if self.is_file or self.rounds is not None or self.variant is not options.Variant.paper:
            return None
        return PRINTED[self.data].get(learner) if self.times == STREAMS[self.data].repeat else None

    def source(self) -> Source:
        """The stream as tasks know it."""
        from banditboost.experiments.task import Source

        if not self.is_file:
            return Source(self.data, variant=self.variant.value, repeat=self.times, rounds=self.rounds)
        return Source.file(
            self.data,
            str(self.label),
            **self.reading,
            repeat=self.times,
            rounds=self.rounds,
            shuffle=bool(self.shuffle),
        )


def typed(command: str, data: str, label: str | None, reading: Mapping[str, Any]) -> list[str]:
    """What has to be typed for a command that plays these data, word by word.

    >>> typed("run", "visits.csv", "clicked", {"ignore": ("id", "a,b"), "decimal": ","})
    ['banditboost', 'run', 'visits.csv', '--label', 'clicked', '--ignore', 'id,"a,b"', '--decimal', ',']
    """
    words = ["banditboost", command, f"./{data}" if data.startswith("-") else data]
    words += ["--label", label] if label else []
    for option, said in reading.items():
        if said:
            words += [
                f"--{option.replace('_', '-')}",
                said if isinstance(said, str) else options.typed_names(said),
            ]
    return words
