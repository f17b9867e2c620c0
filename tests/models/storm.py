"""Storms of real signals, whose handler raises: on a model that decides and learns, and on the command line.

    python -m tests.models.storm --seconds 120 --seed 1        every kind of model, in a process of its own
    python -m tests.models.storm --commands 100 --seed 1       `banditboost run --save`, each with one Ctrl-C

Told are interruptions, rounds and verdicts. A fault is a crash, a hang, a verdict that is counted twice or not at
all, a file that is refused, and a command that does not go on to the model that was never interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import banditboost
from banditboost import Schema, play
from banditboost.errors import DecisionError
from banditboost.io.container import read
from benchmarks import machine, records
from tests.models.interrupting import PACKAGE, lock_is_free

LABELS = ["p", "q", "r"]
KINDS = [
    "GapBoost",
    "AdaBandit",
    "OptBandit",
    "BinBandit",
    "baselines.DiagonalSOBA",
    "baselines.EpsilonGreedyTree",
]
DECLARED = Schema(numeric=["a", "b"], nominal={"c": ["x", "y", "z"]})
_PATIENCE = 120.0  # seconds beyond its time, after which a process counts as stuck


class Thunder(BaseException):
    """What the signal handler raises."""


def _strike(_: int, frame: FrameType | None) -> None:
    """Raise if the package is at work: what is struck between its calls is not what this is about."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            raise Thunder
        frame = frame.f_back


@contextlib.contextmanager
def thunder(seconds: float) -> Iterator[None]:
    """Strike once after so many seconds, if it is not over by then."""
    signal.signal(signal.SIGALRM, _strike)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def make(kind: str, schema: Schema | None, seed: int) -> Any:
    module, _, name = kind.rpartition(".")
    return getattr(getattr(banditboost, module) if module else banditboost, name)(
        LABELS, schema=schema, seed=seed
    )


class Storm:
    """One model in a storm; every verdict is told until it is learned or refused as learned."""

    def __init__(self, kind: str, grows: bool, seed: int) -> None:
        self._luck = random.Random(seed)
        self._grows = grows
        self.model = make(kind, None if grows else DECLARED, seed)
        self.told, self.strikes, self._t = 0, 0, 0
        for _ in range(30):  # compiles
            self._tell([self.model.decide(self._row())])

    def _row(self) -> dict[str, Any]:
        t = self._t = self._t + 1
        new = {f"f{t // 40 % 50}": float(t % 5)} if self._grows else {}
        return {"a": float(t * 7919 % 1000), "b": float(t * 31 % 97), "c": "xyz"[t % 3], **new}

    def _tell(self, decisions: list[Any]) -> None:
        """Tell verdicts, in one call; after a strike one by one, as somebody would who does not know."""
        right = [decision.label == LABELS[decision.round % 3] for decision in decisions]
        try:
            with thunder(self._luck.random() * 0.001 + 1e-5):
                self.model.learn_many(decisions, right)
        except Thunder:
            self.strikes += 1
            for decision, correct in zip(decisions, right, strict=True):
                with contextlib.suppress(DecisionError):
                    self.model.learn(decision, correct)
        self.told += len(decisions)

    def step(self) -> None:
        """Some rounds, with a strike somewhere; then some more without."""
        waiting: list[Any] = []
        with thunder(self._luck.random() * 0.004 + 1e-5):
            try:
                for _ in range(self._luck.randrange(1, 60)):
                    waiting.append(self.model.decide(self._row()))
                waiting += self.model.decide_many([self._row() for _ in range(4)])
            except Thunder:
                self.strikes += 1
        while waiting:
            self._tell([waiting.pop() for _ in range(min(len(waiting), self._luck.randrange(1, 4)))])
        self._play()

    def _play(self) -> None:
        n = self._luck.randrange(1, 300)
        X, y = [self._row() for _ in range(n)], [LABELS[t % 3] for t in range(n)]
        before = self.model.verdicts
        with thunder(self._luck.random() * 0.01 + 1e-5):
            try:
                play(self.model, X, y)
            except Thunder as strike:
                self.strikes += 1
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                played = getattr(strike, "__notes__", [])
                assert not played or f"after {self.model.verdicts - before} of" in played[-1], played
        self.told += self.model.verdicts - before

    def check(self) -> None:
        """Every verdict once, the lock free, a file that is loaded and goes on as the model does."""
        model = self.model
        assert model.verdicts == model.summary().verdicts == self.told, (model.verdicts, self.told)
        assert lock_is_free(model)
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.bb")
            loaded = banditboost.load(Path(folder) / "model.bb")
        for _ in range(20):
            row = self._row()
            one, other = model.decide(row), loaded.decide(row)
            assert (one.label, one.probability) == (other.label, other.probability)
            model.learn(one, True)
            loaded.learn(other, True)
            self.told += 1


def storm(kind: str, grows: bool, seconds: float, seed: int) -> dict[str, Any]:
    """A storm of so many seconds, and what became of the model."""
    one = Storm(kind, grows, seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one.step()
    one.check()
    return {"strikes": one.strikes, "rounds": one.model.rounds, "verdicts": one.model.verdicts}


def storms(seconds: float, seed: int, kinds: list[str]) -> Counter[str]:
    """Each kind of model in a process of its own, with declared and with joining features."""
    counts: Counter[str] = Counter()
    cases = [(kind, grows) for kind in kinds for grows in (False, True)]
    for kind, grows in cases:
        share = str(seconds / len(cases))
        command = [
            sys.executable,
            "-m",
            "tests.models.storm",
            "--one",
            kind,
            str(int(grows)),
            share,
            str(seed),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=float(share) + _PATIENCE, check=False
            )
            fault = "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-600:]}"
        except subprocess.TimeoutExpired:
            fault = "stuck"
        name = f"{kind}, features {'join' if grows else 'are declared'}"
        print(f"{name}: {fault or done.stdout.strip()}", flush=True)
        counts["faults"] += bool(fault)
        if not fault:
            counts.update(json.loads(done.stdout))
    return counts


# The command line


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "banditboost", "run", "car", "--repeat", "300", "--json", *words]


def _run(*words: str, after: float | None = None) -> tuple[int, str]:
    """A command; with a Ctrl-C after so many seconds."""
    process = subprocess.Popen(_command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if after is not None:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    return process.returncode, said


def _length(*words: str) -> float:
    begun = time.monotonic()
    assert _run(*words)[0] == 0
    return time.monotonic() - begun


def _same(one: Path, other: Path) -> bool:
    ours, theirs = read(one).arrays, read(other).arrays
    return ours.keys() == theirs.keys() and all(_equal(ours[name], theirs[name]) for name in ours)


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.names:
        return all(_equal(one[field], other[field]) for field in one.dtype.names)
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def commands(n: int, seed: int) -> Counter[str]:
    """Interrupt `run --save` n times while it plays, go on as it says, and compare with a run that was not."""
    luck, outcomes = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        whole, part = Path(folder) / "whole.bb", Path(folder) / "part.bb"
        start, length = (_length("--save", str(whole), *some) for some in (("--rounds", "1"), ()))
        for _ in range(n):
            part.unlink(missing_ok=True)
            after = start + (length - start) * luck.random()
            status, said = _run("--save", str(part), after=after)
            outcomes[_outcome(status, said, whole, part)] += 1
    return outcomes


def _outcome(status: int, said: str, whole: Path, part: Path) -> str:
    if "Traceback" in said:
        return f"FAULT: a traceback\n{said[-800:]}"
    if status == 0 or (part.exists() and _same(whole, part)):
        return "came to its end" if _same(whole, part) else "FAULT: another model"
    go_on = re.search(r"--skip (\d+)", said)
    if not part.exists() or go_on is None:
        return f"nothing played yet, exit {status}"
    if _run("--resume", str(part), "--skip", go_on[1], "--save", str(part))[0] != 0:
        return "FAULT: cannot be resumed"
    return "resumed to the same model" if _same(whole, part) else "FAULT: resumed to another model"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0.0, help="of storm on models, in all")
    parser.add_argument("--commands", type=int, default=0, help="how many commands are interrupted")
    parser.add_argument("--seed", type=int, default=1)
    records.add_option(parser, "reliability")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, grows, seconds, seed = options.one
        print(json.dumps(storm(kind, bool(int(grows)), float(seconds), int(seed))))
        return
    counts = storms(options.seconds, options.seed, KINDS) if options.seconds else Counter()
    outcomes = commands(options.commands, options.seed) if options.commands else Counter()
    print(dict(counts), dict(outcomes))
    faults = counts["faults"] + sum(n for name, n in outcomes.items() if name.startswith("FAULT"))
    if options.record is not None:
        told = {
            "tried": _tried(counts),
            "counted": _counted(counts, outcomes),
            "found": f"{faults or 'no'} faults",
        }
        about = records.about(
            machine.describe(None, ("numpy", "numba")), records.typed("tests.models.storm", None)
        )
        records.update(options.record, [{**told, **about}], ["tried"])
    sys.exit(bool(faults))


def _tried(counts: Counter[str]) -> str:
    return "signals in calls of a model" if counts else "Ctrl-C in `run`, which saves and is resumed"


def _counted(counts: Counter[str], outcomes: Counter[str]) -> str:
    if counts:
        return f"{counts['strikes']:,} in {counts['rounds']:,} rounds"
    return ", ".join(f"{n} {name}" for name, n in outcomes.most_common())


if __name__ == "__main__":
    os.environ.setdefault("PYTHONFAULTHANDLER", "1")
    main()
