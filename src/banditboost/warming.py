"""Compile everything for this machine before anybody waits for it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from banditboost.compiled.store import shipped_code, why_nothing_is_kept
from banditboost.errors import ParameterError
from banditboost.registry import ALL_MODELS, OFFERING, model_class

_ROWS = [{"number": float(t % 5), "name": "ab"[t % 2]} for t in range(20)]
_RIGHT = ["yes" if t % 2 else "no" for t in range(20)]


def warm(
    models: Iterable[str] | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Compile the kernels of some models, or of all, and keep them on disk.

    Args:
        models: names such as "GapBoost"; None is all boosters and baselines.
        jobs: how many processes compile side by side; None is one for each processor.
        progress: called with what is done, how many parts that makes, and of how many.
    """
    names = list(ALL_MODELS if models is None else models)
    for name in names:
        if name not in ALL_MODELS:
            raise ParameterError(f"models has {name!r}; give some of {', '.join(ALL_MODELS)}")
    _refuse_in_vain()
    # Learning comes second: it needs the machine code of how trees learn, which is compiled once for all.
    stages = [
        [("trees", ""), *((name, "decide") for name in names)],
        [(name, "learn and play") for name in names],
    ]
    total = sum(map(len, stages))
    done = 0
    with ProcessPoolExecutor(jobs or os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for stage in stages:
            waiting = {pool.submit(_compile, *part): part for part in stage}
            for finished in as_completed(waiting):
                finished.result()
                done += 1
                if progress is not None:
                    progress(" ".join(filter(None, waiting[finished])), done, total)


def _refuse_in_vain() -> None:
    """Compiling may take a minute: say before that if nothing would come of it."""
    reason = why_nothing_is_kept()
    if reason and shipped_code() is None:
        raise ParameterError(f"kernels cannot be kept: {reason}")


def _compile(name: str, part: str) -> None:
    if name == "trees":
        _compile_trees()
    elif name in OFFERING:
        _offered(name, learns=part != "decide")
    elif part == "decide":
        _asked(_make(name))
    else:
        _learn_and_play(name)


def _make(name: str) -> Any:
    return model_class(name)(["yes", "no"], seed=1)  # type: ignore[call-arg]


def _offered(name: str, *, learns: bool) -> None:
    """What is compiled for a model with options."""
    model: Any = model_class(name)(seed=1)  # type: ignore[call-arg]
    decision = model.decide(_ROWS[0], dict(zip(_RIGHT, _ROWS, strict=True)))
    if learns:
        model.learn(decision, correct=True)
        model.summary()


def _asked(model: Any) -> Any:
    return model.decide(_ROWS[0]) if hasattr(model, "decide") else model.predict_one(_ROWS[0])


def _compile_trees() -> None:
    _make("AdaFull")._calls._compile_learners()


def _learn_and_play(name: str) -> None:
    """All that compiles something: rounds by hand, a stream of dicts and one of numbers, labels that join, a
    file.
    """
    from banditboost.simulation.play import play

    model = _make(name)
    if hasattr(model, "decide"):
        decisions = model.decide_many(_ROWS)
        model.learn_many(
            decisions, [decision.label == right for decision, right in zip(decisions, _RIGHT, strict=True)]
        )
        type(decisions[0]).from_dict(decisions[0].to_dict())
        model.distribution(_ROWS[0])
    else:
        model.learn_many(_ROWS, _RIGHT)
        model.predict_proba_many(_ROWS)
    play(model, _ROWS, _RIGHT, delay=lambda u: 3 * u, lost=0.1)
    model.summary()
    play(_make(name), np.array([[float(t % 5), 1.0] for t in range(20)]), _RIGHT)
