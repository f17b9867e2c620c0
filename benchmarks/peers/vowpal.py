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

from banditboost.datasets import Stream
from benchmarks.peers.columns import named, standardised
from benchmarks.peers.player import IntArray, Parameters, Player

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
    def __init__(self, stream: Stream, parameters: Parameters, seed: int, *, from_text: bool = False) -> None:
        self._from_text = from_text
        self._seed, self._parameters, self._n_labels, self._rounds = (
            seed,
            parameters,
            len(stream.labels),
            stream.rounds,
        )
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
        return "-b 20" if self._parameters["quadratic"] else "-b 18"

    def _files(self) -> str:
        cache = "" if self._from_text else f"--cache_file {self._path('cache')} "
        return f"-d {self._path('rows')} {cache}-p {self._path('shown')}"

    def _path(self, name: str) -> Path:
        return Path(self._folder.name) / name


def _prepared(stream: Stream, parameters: Parameters) -> Stream:
    chosen = named(stream) if parameters.get("named") else stream
    return standardised(chosen) if parameters["standardised"] else chosen


def lines(stream: Stream) -> Iterator[str]:
    """Rows in Vowpal Wabbit's format.

    Labels count from 1; feature names must not be bare integers, which collide under --cbify.
    """
    numeric = [values is None for values in stream.values]
    for row, label in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        cells = (
            f"c{i}:{cell:.6g}" if numeric[i] else f"c{i}_{int(cell)}"
            for i, cell in enumerate(row)
            if cell == cell
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


def _first(explorer: str, _stream: str) -> Sequence[Parameters]:
    return [
        {"explorer": explorer, "step": STEPS[0], "quadratic": quadratic, "standardised": True}
        for quadratic in (False, True)
    ]


def _others(explorers: Sequence[str], best: Parameters) -> Sequence[Parameters]:
    changes: list[dict[str, Any]] = [{"standardised": False}, {"named": True}]
    changes += [{"explorer": other} for other in explorers[1:]] + [{"step": step} for step in STEPS[1:]]
    return [{**best, **change} for change in changes]
