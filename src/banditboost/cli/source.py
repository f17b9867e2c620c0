"""From what was typed to a stream of rounds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from banditboost import baselines, datasets
from banditboost.cli import output
from banditboost.datasets.protocol import ALGORITHMS, PRINTED, STREAMS, Printed

if TYPE_CHECKING:
    from banditboost.experiments.task import Source

_PICTURES = (".png", ".svg", ".pdf")
LEARNERS = (*ALGORITHMS, "GapBoost")
LARGEST_IN_MEMORY = 256 * 2**20
"""Bytes; larger files are streamed."""


@dataclass(frozen=True)
class Choice:
    """The data of a command: a built-in set or a file, and how it becomes a stream."""

    data: str
    label: str | None = None
    numeric: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    variant: str = "paper"
    repeat: int | None = None
    rounds: int | None = None
    shuffle: bool | None = None
    directory: Path | None = None

    @property
    def is_file(self) -> bool:
        return self.data not in datasets.names()

    @property
    def name(self) -> str:
        return Path(self.data).stem if self.is_file else self.data

    @property
    def times(self) -> int:
        """How often the rows are played: as in the paper, or a file once."""
        return self.repeat if self.repeat is not None else 1 if self.is_file else STREAMS[self.data].repeat

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is read."""
        if not self.is_file:
            self._check_built_in()
        elif not Path(self.data).exists():
            raise typer.BadParameter(f"{self.data!r} is neither a data set ({', '.join(datasets.names())}) nor a file; check the spelling")
        elif self.label is None:
            raise typer.BadParameter(f"{self.data} is a file: name its column of right labels with --label COLUMN")

    def _check_built_in(self) -> None:
        given = {"--label": self.label, "--numeric": self.numeric, "--nominal": self.nominal, "--ignore": self.ignore}
        for option, value in given.items():
            if value:
                raise typer.BadParameter(f"{option} is for files; {self.data} is a built-in data set, so leave it out")
        if self.shuffle is False:
            raise typer.BadParameter(f"--in-order is for files; the rows of {self.data} come sorted, so they are always shuffled")

    @property
    def is_large(self) -> bool:
        return self.is_file and Path(self.data).stat().st_size > LARGEST_IN_MEMORY

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        return {"numeric": self.numeric, "nominal": self.nominal, "ignore": self.ignore}

    def load(self) -> Any:
        """All rows in memory: a Dataset or a Table."""
        if self.is_file:
            return datasets.read(self.data, str(self.label), **self.columns)
        return datasets.load(self.data, self.variant, self.directory)  # type: ignore[arg-type]

    def check_rows(self) -> None:
        """Read a file once before tasks are made of it, and show what its columns were taken for."""
        if self.is_large:
            raise typer.BadParameter(
                f"{self.data} is too large to be kept in memory for many runs; take a part of it, or play it once with run"
            )
        if self.is_file:
            output.say(self.load().describe())

    def printed(self, learner: str) -> Printed | None:
        """The paper's figures, if this is the paper's stream."""
        as_printed = not self.is_file and self.rounds is None and self.times == STREAMS[self.data].repeat and self.variant == "paper"
        return PRINTED[self.data].get(learner) if as_printed else None

    def source(self) -> Source:
        """The same for tasks."""
        from banditboost.experiments.task import Source

        if not self.is_file:
            return Source(self.data, variant=self.variant, repeat=self.times, rounds=self.rounds)
        return Source.file(self.data, str(self.label), **self.columns, repeat=self.times, rounds=self.rounds, shuffle=bool(self.shuffle))


def check_learner(name: str) -> str:
    """The name as it is spelled, whatever the case."""
    learners = (*LEARNERS, *baselines.__all__)
    for known in learners:
        if known.lower() == name.lower():
            return known
    raise typer.BadParameter(f"unknown learner {name!r}: it is one of {', '.join(learners)}")


def parse_value(text: str) -> Any:
    """A number, a range low:high, true or false, or a name."""
    if ":" in text:
        return [parse_value(part) for part in text.split(":", 1)]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def parse_settings(given: list[str] | None, **named: Any) -> dict[str, Any]:
    """Parameters from --set NAME=VALUE and from options of their own."""
    parameters: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise typer.BadParameter(f"--set {text!r} is not NAME=VALUE, such as edge=0.1")
        parameters[name.strip().replace("-", "_")] = parse_value(value.strip())
    return {**parameters, **{name: value for name, value in named.items() if value is not None}}


def default_parameters(choice: Choice, learner: str) -> dict[str, Any]:
    """The paper's for its boosters on its data sets; else those of the package."""
    from banditboost.experiments.paper import paper_parameters

    return {} if choice.is_file or learner not in ALGORITHMS else paper_parameters(choice.data, learner)


def check_target(option: str, path: Path | None) -> None:
    """A file to be written at the end must have a place."""
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"{option} {path}: there is no directory {path.parent}; make it first")
    if path.is_dir():
        raise typer.BadParameter(f"{option} {path} is a directory; give the name of a file in it")
    if not os.access(path.absolute().parent, os.W_OK):
        raise typer.BadParameter(f"{option} {path}: the directory {path.absolute().parent} cannot be written to; give another one")


def check_picture(option: str, path: Path | None) -> None:
    check_target(option, path)
    if path is not None and path.suffix not in _PICTURES:
        raise typer.BadParameter(f"{option} {path}: give a name that ends in {', '.join(_PICTURES)}")
