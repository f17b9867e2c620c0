"""What it costs that processes decide with a branch that is behind: accuracy beside one model alone.

What each process does is what it does in a service: `shared.deciding.Deciding` decides and is refreshed,
`Served` takes its decision and learns it. Only the database between them is left out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from banditboost import datasets
from banditboost.loading import from_bytes
from banditboost.serve import making
from banditboost.serve.messages import DecisionRequest, VerdictRequest
from banditboost.serve.served import Served
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.shared.deciding import Deciding
from banditboost.serve.store.base import StoredModel

PROCESSES = 4
BEHIND = (25, 250, 2_500)
"""Rounds from one refresh to the next."""
ALONE = 0
STREAMS = ("car", "balance", "nursery", "movement")
SEEDS = (1, 2, 3)
ROUNDS = 10_000
_STORED = StoredModel(1, "m", 0.0)


class Run(NamedTuple):
    """One stream, one seed, and how far behind."""

    stream: str
    seed: int
    behind: int


def measure(folder: Path) -> dict[str, Any]:
    """All runs; those that this folder tells of are over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "staleness.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    found = {Run(*line["run"]): line for line in lines}
    for run in _all_runs():
        if run not in found:
            found[run] = played(run)
            with path.open("a") as file:
                file.write(json.dumps(found[run]) + "\n")
            print(found[run], file=sys.stderr, flush=True)
    runs = [found[run] for run in _all_runs()]
    return {"processes": PROCESSES, "rounds": ROUNDS, "seeds": len(SEEDS), "runs": runs}


def _all_runs() -> Iterator[Run]:
    for stream in STREAMS:
        for seed in SEEDS:
            for behind in (ALONE, *BEHIND):
                yield Run(stream, seed, behind)


def played(run: Run) -> dict[str, Any]:
    """The share of right decisions, of all and of the last fifth."""
    begun = time.process_time()
    stream = datasets.load(run.stream).stream(repeat=1_000, seed=run.seed, rounds=ROUNDS)
    site = Site(stream.labels, run.seed, PROCESSES if run.behind else 0)
    right = []
    for n, (row, label) in enumerate(stream.records()):
        if run.behind and n % run.behind == 0:
            site.refresh()
        right.append(site.round(n, row, label))
    last = right[-ROUNDS // 5 :]
    return {
        "run": list(run),
        "rounds": len(right),
        "accuracy": round(sum(right) / len(right), 5),
        "last": round(sum(last) / len(last), 5),
        "seconds": round(time.process_time() - begun),
    }


class Site:
    """One learner, and processes that decide for it; none of these: the learner decides itself."""

    def __init__(self, labels: Sequence[Any], seed: int, processes: int) -> None:
        limits = Limits()
        settings = making.checked(ModelSettings(labels=list(labels), seed=seed), limits)
        self._learner = Served(_STORED, settings, making.make(settings), limits, lambda _: ())
        self._processes = [self._fresh() for _ in range(processes)]

    def _fresh(self) -> Deciding:
        """What was published last, as a process loads it."""
        learner = self._learner
        file = making.packed(learner.model, _STORED.name)
        model: Any = from_bytes(file, _STORED.name)
        return Deciding(_STORED, learner.settings, model.branch(), learner.limits, learner.n, 0)

    def refresh(self) -> None:
        """All processes decide with what was learned until now."""
        for process in self._processes:
            process.take_over(self._fresh())

    def round(self, n: int, row: dict[str, Any], label: Any) -> bool:
        """A decision of the process whose turn it is, and its verdict."""
        request, now = DecisionRequest(features=msgspec.json.encode(row), id=str(n)), float(n)
        if self._processes:
            process = self._processes[n % len(self._processes)]
            chosen = process.chosen(str(n), request)
            shown = self._learner.decided(str(n), request, chosen, process.version, now).label
        else:
            shown = self._learner.decide(request, now).label
        self._learner.judge(VerdictRequest(id=str(n), correct=shown == label), now)
        self._learner.forget(self._learner.take()[1])
        return bool(shown == label)
