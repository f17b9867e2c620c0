"""Who plays: Vowpal Wabbit as in the bake-off, and GapBoost with its defaults."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from banditboost import GapBoost, play
from banditboost.datasets import Stream
from benchmarks.bakeoff.sets import Set

ALGORITHMS = {
    "greedy": "--epsilon 0 --cb_type mtr",
    "RegCB": "--regcbopt --mellowness 0.001 --cb_type mtr --cb_min_cost -1 --cb_max_cost 0",
    "cover": "--cover 4 --psi 0.1 --nounif --cb_type dr",
    "bag, greedy": "--bag 4 --greedify --cb_type mtr",
    "bag": "--bag 4 --cb_type mtr",
    "epsilon": "--epsilon 0.02 --cb_type mtr",
}
"""With the parameters that won in the bake-off, for costs -1 and 0."""
TOLD = "told"
"""The name of the learner that is told every label."""
STEPS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SEEDS = range(4, 9)
GAPBOOST, WABBIT, WABBIT_NAMES, WABBIT_PAIRS = "GapBoost", "VW", "VW, names", "VW, pairs"
Record = dict[str, Any]


@dataclass(frozen=True)
class Player:
    name: str
    group: str
    """What `--only` calls it."""
    play: Callable[[Stream], Record]
    """What came of a stream: `wrong`, by algorithm or by seed, and CPU seconds."""
    meets: Callable[[Set], bool] = lambda _: True
    """Is there anything to play on this set?"""


def players() -> list[Player]:
    return [
        Player(GAPBOOST, "gapboost", gapboost),
        Player(WABBIT, "wabbit", wabbit),
        Player(WABBIT_NAMES, "wabbit", partial(wabbit, names=True), lambda item: item.nominal),
        Player(WABBIT_PAIRS, "pairs", partial(wabbit, names=True, pairs=True)),
    ]


def gapboost(stream: Stream) -> Record:
    """How often GapBoost was wrong, for each seed, and how often the most frequent label would have been."""
    start, wrong = time.process_time(), []
    for seed in SEEDS:
        model = GapBoost(stream.labels, schema=stream.schema(), seed=seed)
        wrong.append(int((play(model, *stream).shown != stream.y).sum()))
    constant = stream.rounds - max(stream.class_counts.values())
    return {"wrong": wrong, "constant": constant, "seconds": round(time.process_time() - start, 3)}


def wabbit(stream: Stream, names: bool = False, pairs: bool = False) -> Record:
    """How often each algorithm was wrong with each learning rate; with `pairs` products of columns are features, too."""
    start = time.process_time()
    with tempfile.TemporaryDirectory(prefix="banditboost-bakeoff-") as folder:
        rows = Path(folder) / "rows"
        rows.write_text("".join(lines(stream, names)), encoding="utf-8")
        shared = f"-d {rows} --cache_file {rows.with_name('cache')}{' -q ::' if pairs else ''}"
        wrong = {
            algorithm: [_errors(f"{shared} {command(algorithm, len(stream.labels), step)}") for step in STEPS]
            for algorithm in (*ALGORITHMS, TOLD)
        }
    return {"wrong": wrong, "seconds": round(time.process_time() - start, 3)}


def command(algorithm: str, n_labels: int, step: float) -> str:
    """What follows `vw` on the command line, but for the files."""
    how = (
        f"--oaa {n_labels}"
        if algorithm == TOLD
        else f"--cbify {n_labels} --cb_explore_adf --loss0 -1 --loss1 0 {ALGORITHMS[algorithm]}"
    )
    return f"-b 24 {how} -l {step} --quiet"


def lines(stream: Stream, names: bool) -> Iterator[str]:
    """Rows in Vowpal Wabbit's format: zeros and missing cells are left out.

    Nominal cells are numbers, as in the bake-off, or with `names` a feature for each value. Columns are called
    c0, c1, ...: bare integers would share weights under --cbify.
    """
    named = [names and values is not None for values in stream.values]
    for row, label in zip(stream.X.tolist(), stream.y.tolist(), strict=True):
        cells = (
            f"c{i}_{cell:.0f}" if named[i] else f"c{i}:{cell:.6f}"
            for i, cell in enumerate(row)
            if cell == cell and (named[i] or cell != 0)
        )
        yield f"{label + 1} | {' '.join(cells)}\n"


def _errors(arguments: str) -> int:
    """Vowpal Wabbit's sum of progressive losses: a wrong label counts 1."""
    from vowpalwabbit import Workspace

    workspace = Workspace(arguments)
    wrong = round(workspace.get_sum_loss())
    workspace.finish()
    return wrong
