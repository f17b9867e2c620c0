"""One run, in a process of its own: what was shown, the CPU time it took, the most memory it needed.

The process is forked from one that has loaded the rows and our kernels, so a run starts at once, and a run
that crashes or never ends costs only itself. Memory is the peak while playing minus what the process held
just before: rows, imports and a Java machine that has been started do not count. (ru_maxrss would: it is
inherited from the parent.)
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from banditboost.experiments import protocol
from banditboost.experiments.run import warm_up
from banditboost.experiments.task import Task
from benchmarks.peers.player import Player
from benchmarks.peers.streams import Rounds

MILESTONES = (10, 100, 300, 1_000, 2_000, 5_000, 10_000)
"""Rounds after which the accuracy so far is noted, so that slow and fast settings can be compared."""
_PATIENCE = 300.0
"""Wall-clock seconds that a run may take beyond four times its limit, before it is ended."""


def measure(task: Task, player: Player, rounds: Rounds, limit: float) -> dict[str, Any]:
    """The record of a run; if it failed, one that says why."""
    if player.ours:
        warm_up(player.name)
    return {
        "id": task.id,
        "task": task.to_dict(),
        "package": player.package,
        "stream_rounds": rounds.stream.rounds,
        "limit": limit,
        **_in_child(player, rounds, task, limit),
        "finished": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def _in_child(player: Player, rounds: Rounds, task: Task, limit: float) -> Mapping[str, Any]:
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sending, player, rounds, task, limit))
    process.start()
    sending.close()
    try:
        return (
            receiving.recv()
            if receiving.poll(4 * limit + _PATIENCE)
            else {"failed": f"took more than {4 * limit + _PATIENCE:.0f} s"}
        )
    except EOFError:
        return {"failed": "its process ended without an answer"}
    finally:
        process.kill()
        process.join()


def _report(sending: Connection, player: Player, rounds: Rounds, task: Task, limit: float) -> None:
    try:
        sending.send(_outcome(player, rounds, task, limit))
    except Exception as error:  # whatever a peer raises is its result
        sending.send({"failed": f"{type(error).__name__}: {error}"[:300]})


def _outcome(player: Player, rounds: Rounds, task: Task, limit: float) -> dict[str, Any]:
    game = player.game(rounds.stream, task.parameters, task.seed)
    before = _forget_peak()
    start = process_time()
    game.play(limit)
    seconds = max(process_time() - start, 1e-9)
    memory = _status("VmHWM") - before
    shown = game.shown()
    return {
        **score(shown, rounds),
        "seconds": seconds,
        "rounds_per_second": len(shown) / seconds,
        "memory_bytes": max(0, memory),
    }


def score(shown: np.ndarray[Any, Any], rounds: Rounds) -> dict[str, Any]:
    """Accuracies over the rounds that were played; regret against the best policy if that is known."""
    played = len(shown)
    right = shown == rounds.stream.y[:played]
    best = None if rounds.best is None else int((rounds.best[:played] == rounds.stream.y[:played]).sum())
    return {
        "rounds": played,
        "milestones": {
            str(mark): float(right[:mark].mean())
            for mark in (*MILESTONES, rounds.stream.rounds)
            if mark <= played
        },
        "accuracy": float(right.mean()),
        "last_accuracy": float(right[-max(1, int(protocol.LAST_FRACTION * played)) :].mean()),
        "regret": None if best is None else best - int(right.sum()),
        "best_accuracy": None if best is None else best / played,
    }


def _forget_peak() -> int:
    """Bytes held now; the peak counts from here.

    What was freed before goes back first, or it would be used again unseen.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), 0)
