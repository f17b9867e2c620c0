"""`python -m benchmarks.mixture`: does Adaboost.OLM++ pay? MixFull beside AdaFull, MixBandit beside AdaBandit.

They play the paper's six streams at the paper's settings, in turns, so that times can be compared. Each run is
written down when it is done; the same command goes on where it was stopped, and then writes the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from banditboost import play
from banditboost.experiments.learners import make
from banditboost.experiments.machine import machine
from banditboost.experiments.paper import paper_parameters
from banditboost.experiments.protocol import STREAMS
from banditboost.experiments.results import Results
from banditboost.experiments.run import open_stream, warm_up
from banditboost.experiments.statistics import mean_interval, paired_difference
from banditboost.experiments.task import Source
from benchmarks import records
from benchmarks.tables import render

PAGE = Path(__file__).parents[1] / "docs/results/mixture.md"
UNLEARNED = "unlearned"
"""MixBandit whose densities never change: eta = 0."""
RIVALS = {"MixFull": "AdaFull", "MixBandit": "AdaBandit", UNLEARNED: "AdaBandit"}
LEARNERS = ("AdaFull", "MixFull", "AdaBandit", "MixBandit", UNLEARNED)
CHOSEN_ON = ("balance", "car", "mice")
TEXT = """# Does Adaboost.OLM++ pay?

`python -m benchmarks.mixture`: [MixFull and MixBandit](../mixture.md) beside AdaFull and AdaBandit on the paper's six streams, with the
paper's N, rho and trees. Mean accuracy ± half the 95 % interval over {seeds}; *difference* is the paired one, over the same seeds.
A difference is bold if its interval leaves out 0; of twenty that are none, one is expected to be.
The step size of MixBandit was [chosen](#how-the-step-size-was-chosen) on Balance, Car and Mice with seeds from 100 on, and was not changed
after these tables were seen.

## With full information, the last fifth

{full_last}

## With full information, all rounds

{full_all}

## With bandit feedback, the last fifth

{bandit_last}

## With bandit feedback, all rounds

{bandit_all}

*Unlearned* is MixBandit with eta = 0: its densities stay uniform, so its weights know nothing of how good a learner is.

## Time

CPU time of MixFull as a multiple of AdaFull's, and of MixBandit as a multiple of AdaBandit's: the median over seeds, each
played in turns ({machine}).

{speed}

## How the step size was chosen

Mean accuracy over the last fifth / over all rounds, on seeds from 100 on. {n_rules} step sizes were tried, the first ones on six seeds only;
*weights* is what the costs are multiplied by before a tree is taught. Chosen was sqrt(rho / (k^3 t)), since it follows from the variance of
the estimate and was among the good ones; it was thought of when the fifteen with other powers had been seen. Small ones can hardly be told
apart, nor can they from eta = 0.
MixFull and AdaFull were played with weights of 12.5 / (k (k - 1)) of those above. ([Records](mixture_rules.jsonl); they were measured once.)

{rules}
"""


@dataclass(frozen=True)
class Run:
    """One learner on one stream."""

    data: str
    learner: str
    seed: int

    @property
    def id(self) -> str:
        return f"{self.data}/{self.learner}/seed={self.seed}"

    def play(self) -> dict[str, Any]:
        kind = "MixBandit" if self.learner == UNLEARNED else self.learner
        warm_up(kind)
        stream = open_stream(Source(self.data, repeat=STREAMS[self.data].repeat), self.seed)
        parameters = paper_parameters(self.data, RIVALS.get(self.learner, self.learner))
        model: Any = make(kind, stream.labels, stream.schema(), parameters, self.seed)
        if self.learner == UNLEARNED:
            model._settings.step = 0.0
        start = time.process_time()
        result = play(model, *stream)
        seconds = time.process_time() - start
        scores = {"accuracy": result.accuracy, "last_accuracy": result.last_accuracy, "seconds": seconds}
        about = records.about({"cpu": str(machine()["cpu"])}, "python -m benchmarks.mixture")
        return {"id": self.id, **asdict(self), "rounds": len(result.y), **scores, **about}


def all_runs(data: Sequence[str], seeds: int | None) -> Iterator[Run]:
    """What is short comes first, and learners in turns."""
    for name in sorted(data, key=lambda name: STREAMS[name].rounds):
        for seed in STREAMS[name].seeds[:seeds]:
            for learner in LEARNERS:
                yield Run(name, learner, seed)


def by_cell(found: Sequence[records.Record]) -> dict[tuple[str, str], dict[int, records.Record]]:
    cells: dict[tuple[str, str], dict[int, records.Record]] = {}
    for record in found:
        cells.setdefault((record["data"], record["learner"]), {})[record["seed"]] = record
    return cells


def table(found: Sequence[records.Record], learners: Sequence[str], score: str) -> str:
    """A row for each stream; each learner but the first with its difference to the first."""
    cells = by_cell(found)
    first, others = learners[0], learners[1:]
    rows = []
    for data in (name for name in STREAMS if (name, first) in cells):
        reference = {seed: record[score] for seed, record in cells[data, first].items()}
        row = [data.capitalize(), _shown(*mean_interval(list(reference.values())))]
        for learner in others:
            mine = {seed: record[score] for seed, record in cells[data, learner].items()}
            ahead = paired_difference(mine, reference)
            row += [_shown(*mean_interval(list(mine.values()))), _signed(ahead.mean, ahead.half_width)]
        rows.append(row)
    heads = ["stream", first, *(head for learner in others for head in (learner, "difference"))]
    return render(heads, rows)


def _shown(mean: float, half_width: float) -> str:
    return f"{mean:.3f} ± {half_width:.3f}"


def _signed(mean: float, half_width: float) -> str:
    """In bold if the interval leaves out 0."""
    text = f"{mean:+.3f} ± {half_width:.3f}"
    return f"**{text}**" if abs(mean) > half_width else text


def speed(found: Sequence[records.Record]) -> str:
    cells = by_cell(found)
    rows = []
    for data in (name for name in STREAMS if (name, "MixFull") in cells):
        row = [data.capitalize()]
        for learner in ("MixFull", "MixBandit"):
            mine, rival = cells[data, learner], cells[data, RIVALS[learner]]
            quotients = [mine[seed]["seconds"] / rival[seed]["seconds"] for seed in mine if seed in rival]
            row.append(f"{statistics.median(quotients):.2f}")
        rows.append(row)
    return render(["stream", "MixFull / AdaFull", "MixBandit / AdaBandit"], rows)


def rules(found: Sequence[records.Record]) -> str:
    """What was tried to choose the step size, by learner and in the order of trying."""
    cells = {(r["learner"], r["eta"], r["weights"], r["data"]): r for r in found}
    tried = sorted(dict.fromkeys(key[:3] for key in cells), key=lambda key: LEARNERS.index(key[0]))
    rows = []
    for key in tried:
        mine = [cells[*key, data] for data in CHOSEN_ON]
        scores = [f"{r['last_accuracy']:.3f} / {r['accuracy']:.3f}" for r in mine]
        rows.append([key[0], key[1] or "", key[2] or "", str(mine[0]["seeds"]), *scores])
    return render(["learner", "eta", "weights", "seeds", *map(str.capitalize, CHOSEN_ON)], rows)


def page(found: Sequence[records.Record]) -> str:
    bandits = ("AdaBandit", "MixBandit", UNLEARNED)
    tried = records.read(records.path_of("mixture_rules"))
    counts = {len(cell) for cell in by_cell(found).values()}
    return TEXT.format(
        seeds=f"{min(counts)} to {max(counts)} seeds" if len(counts) > 1 else f"{max(counts)} seeds",
        full_last=table(found, ("AdaFull", "MixFull"), "last_accuracy"),
        full_all=table(found, ("AdaFull", "MixFull"), "accuracy"),
        bandit_last=table(found, bandits, "last_accuracy"),
        bandit_all=table(found, bandits, "accuracy"),
        machine=found[-1]["machine"]["cpu"],
        speed=speed(found),
        n_rules=len({record["eta"] for record in tried if record["learner"] == "MixBandit"}),
        rules=rules(tried),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mixture", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--datasets", nargs="+", choices=list(STREAMS), default=list(STREAMS))
    parser.add_argument("--seeds", type=int, help="how many; as in the paper unless given")
    parser.add_argument("--records", type=Path, default=records.path_of("mixture"))
    parser.add_argument("--report", action="store_true", help="write the page without playing")
    given = parser.parse_args(arguments)
    results = Results(given.records)
    finished = results.finished_ids()
    waiting = [run for run in all_runs(given.datasets, given.seeds) if run.id not in finished]
    for done, run in enumerate([] if given.report else waiting, start=1):
        results.append(run.play())
        print(f"{done}/{len(waiting)} {run.id}", file=sys.stderr, flush=True)
    PAGE.write_text(page(records.read(given.records)), encoding="utf-8")


if __name__ == "__main__":
    main()
