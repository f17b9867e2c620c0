"""Vowpal Wabbit's own simulation of bandit feedback, `--cbify`.

The Python package's Workspace is given the command line with `-d`, so that Vowpal Wabbit's C++ driver plays
the stream from a file. The file is its binary cache, made before the clock starts: no text is parsed while it
is measured, unless that is asked for.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import bundled, topics, words
from benchmarks.peers.bags import Bags
from benchmarks.peers.columns import named, standardised
from benchmarks.peers.player import AnyStream, IntArray, Parameters, Player

EXPLORERS: dict[str, tuple[str, ...]] = {
    "squarecb": (
        "--squarecb --gamma_scale 10",
        "--squarecb --gamma_scale 100",
        "--squarecb --gamma_scale 1000",
    ),
    "regcb": ("--regcbopt --mellowness 0.01", "--regcbopt --mellowness 0.001", "--regcb --mellowness 0.01"),
    "epsilon": ("--epsilon 0.02", "--epsilon 0.05", "--epsilon 0.005"),
    "bag": ("--bag 5 --greedify", "--bag 10 --greedify"),
}
"""The first is tried plain and quadratic, the others with the better of the two."""
STEPS = (0.5, 0.1, 2.0)
"""Learning rates, the same way."""
_PROBE_ROUNDS = 300


class VowpalWabbit:
    def __init__(
        self, stream: AnyStream, parameters: Parameters, seed: int, *, from_text: bool = False
    ) -> None:
        self._from_text = from_text
        self._seed, self._parameters, self._n_labels, self._rounds = (
            seed,
            parameters,
            len(stream.labels),
            stream.rounds,
        )
        self._n_words = len(stream.words) if isinstance(stream, Bags) else 0
        self._folder = tempfile.TemporaryDirectory(prefix="banditboost-peers-")
        self._path("rows").write_text("".join(lines(_prepared(stream, parameters))))
        if not from_text:
            _run(
                f"{self._files()} --cbify {self._n_labels} --epsilon 0 {self._bits()} --quiet"
            )  # writes the cache
        start = time.process_time()
        _run(f"{self.command()} --examples {_PROBE_ROUNDS}")
        self._seconds_a_round = (time.process_time() - start) / min(_PROBE_ROUNDS, self._rounds)

    def play(self, limit: float) -> None:
        _run(f"{self.command()} --examples {max(1, min(self._rounds, int(limit / self._seconds_a_round)))}")

    def shown(self) -> IntArray:
        with self._folder:  # and nothing of it is left
            return parse(self._path("shown").read_text())

    def command(self) -> str:
        """What follows `vw` on the command line."""
        given = self._parameters
        how = f"{given['explorer']} -l {given['step']} {'-q ff ' if given['quadratic'] else ''}{self._bits()}"
        return f"{self._files()} --cbify {self._n_labels} {how} --random_seed {self._seed} --quiet"

    def _bits(self) -> str:
        return f"-b {bits(self._n_words * self._n_labels, self._parameters['quadratic'])}"

    def _files(self) -> str:
        cache = "" if self._from_text else f"--cache_file {self._path('cache')} "
        return f"-d {self._path('rows')} {cache}-p {self._path('shown')}"

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name


def bits(weights: int, quadratic: bool) -> int:
    """Of the table of weights: four places for each word and label, 18 at least and 24 at most; 22 for pairs of words."""
    if not weights:
        return 20 if quadratic else 18
    return 22 if quadratic else min(max((4 * weights).bit_length(), 18), 24)


def _prepared(stream: AnyStream, parameters: Parameters) -> AnyStream:
    if isinstance(stream, Bags):
        return stream
    chosen = named(stream) if parameters.get("named") else stream
    return standardised(chosen) if parameters["standardised"] else chosen


def lines(stream: AnyStream) -> Iterator[str]:
    """Rows in Vowpal Wabbit's format.

    Labels count from 1; feature names must not be bare integers, which collide under --cbify. Zeros say nothing
    to it, and are left out.
    """
    if isinstance(stream, Bags):
        yield from _lines_of_bags(stream)
        return
    numeric = [values is None for values in stream.values]
    for row, label in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        cells = (
            f"c{i}:{cell:.6g}" if numeric[i] else f"c{i}_{int(cell)}"
            for i, cell in enumerate(row)
            if cell == cell and not (numeric[i] and cell == 0)
        )
        yield f"{label + 1} |f {' '.join(cells)}\n"


def _lines_of_bags(bags: Bags) -> Iterator[str]:
    for (columns, values), label in zip(bags.cells(), bags.y.tolist(), strict=True):
        cells = (
            f"w{i}:{value:.6g}" if bags.counted else f"w{i}" for i, value in zip(columns, values, strict=True)
        )
        yield f"{label + 1} |f {' '.join(cells)}\n"


def parse(predictions: str) -> IntArray:
    """A prediction a line, its label first, counting from 1."""
    return np.array(
        [int(float(line.split()[0])) - 1 for line in predictions.splitlines() if line.strip()], np.int64
    )


def _run(command: str) -> None:
    from vowpalwabbit import Workspace

    Workspace(command).finish()


def players() -> list[Player]:
    return [
        Player(
            f"VW {name}",
            VowpalWabbit,
            "vowpalwabbit",
            settings=partial(_first, variants[0]),
            neighbours=partial(_others, variants),
        )
        for name, variants in EXPLORERS.items()
    ]


def _first(explorer: str, stream: str) -> Sequence[Parameters]:
    """Rows of hundreds of columns begin raw: standardised, their pairs would take seconds for a few rounds."""
    bags = stream in words.WORDS or stream in topics.TOPICS
    scaled = {} if bags else {"standardised": stream not in bundled.WIDE}
    return [
        {"explorer": explorer, "step": STEPS[0], "quadratic": quadratic, **scaled}
        for quadratic in (False, True)
    ]


def _others(explorers: Sequence[str], best: Parameters) -> Sequence[Parameters]:
    changes: list[dict[str, Any]] = []
    if "standardised" in best:
        changes += [{"standardised": not best["standardised"]}, {"named": True}]
    changes += [{"explorer": other} for other in explorers[1:]] + [{"step": step} for step in STEPS[1:]]
    return [{**best, **change} for change in changes]
