"""Starts the service, kills it, reads what it has left behind, and starts it again."""

from __future__ import annotations

import random
import time
from pathlib import Path

from banditboost.serve.store.sqlite import SQLiteStore
from benchmarks.crash.found import Found, Kill
from benchmarks.crash.process import ANSWERS, Line, Process
from benchmarks.crash.truth import Truth
from benchmarks.crash.worker import digest_of


def kill_again_and_again(folder: Path, kills: int, seed: int, most_seconds: float = 0.6) -> Found:
    """So many times, each after up to so many seconds of load; those that this folder tells of are done."""
    found = Found(folder / "kills.jsonl")
    store, truths = folder / "store", dict[str, Truth]()
    if found.kills:
        _read_logs(store, truths)
    for kill in range(len(found.kills), kills):
        number = seed * 1_000_003 + kill
        with Process(str(store), number) as process:
            start = process.wait_until_ready()
            time.sleep(random.Random(number).uniform(0.0, most_seconds))
            lines = process.kill()
        wrong = _compare_models(lines, truths)
        _read_logs(store, truths)
        answers = [line for line in lines if line[0] in ANSWERS]
        lost = [line for line in answers if truths[line[1]].lacks(line)]
        found.add(Kill(len(answers), start, lost=lost, wrong=wrong))
    found.events = sum(truth.n for truth in truths.values())
    found.wrong_logs = [what for truth in truths.values() for what in truth.wrong]
    return found


def _compare_models(lines: list[Line], truths: dict[str, Truth]) -> list[str]:
    """The models that the new process has made of their logs, against those that were never killed."""
    wrong = []
    for what, *told in lines:
        if what == "model" and told[0] in truths:
            name, _, n, digest = told
            truth = truths[name]
            if (n, digest) != (truth.n, digest_of(truth.file())):
                wrong.append(f"{name} differs after a start at event {n}; its log ends at {truth.n}")
    return wrong


def _read_logs(folder: Path, truths: dict[str, Truth]) -> None:
    store = SQLiteStore(folder)
    for stored in store.models():
        truth = truths.setdefault(stored.name, Truth(store, stored))
        truth.read_on(store)
        truth.learn_to(truth.n)
    store.close()
