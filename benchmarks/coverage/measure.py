"""All intervals of a log, and how often they hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.evaluation import PolicyDifference, PolicyValue, Replay, baseline
from banditboost.evaluation.mixture import log_wealth
from banditboost.evaluation.predictions import CUT, Baseline, doubly_robust_scores
from banditboost.evaluation.sequence import TOTAL, VARIANCE, Sequence
from benchmarks.coverage.worlds import N_ROWS, Array, Log, World

LEVEL = 0.95
LOOKS = np.unique(np.geomspace(5, N_ROWS, 40).astype(int))
"""After how many rows one looks at a sequence."""
SEQUENCES = {
    "ips": (1.0, 0.0),
    "clipped": (1.0, 0.0),
    "doubly_robust": (CUT + 1.0, 0.0),
    "difference": (2.0, 1.0),
    "difference with model": (CUT + 2.0, 1.0),
}
"""Scale and offset of each."""
AT_THE_END = (
    ("ips", "bernstein"),
    ("doubly_robust", "bernstein"),
    ("difference", "bernstein"),
    ("difference with model", "bernstein"),
    ("likelihood", "likelihood"),
    ("ips", "gaussian"),
    ("snips", "gaussian"),
    ("doubly_robust", "gaussian"),
    ("switch", "gaussian"),
    ("direct", "gaussian"),
    ("difference", "gaussian"),
    ("difference with model", "gaussian"),
)
Key = tuple[str, str]


def measure(world: World, n_logs: int) -> list[dict[str, Any]]:
    """For each interval how often it held, at the end and at all looks together, and its width."""
    found = {name: np.zeros((2, N_ROWS, n_logs)) for name in SEQUENCES}
    truths = {name: np.zeros((len(LOOKS), n_logs)) for name in SEQUENCES}
    ends: dict[Key, Array] = {key: np.zeros((n_logs, 2)) for key in (*AT_THE_END, ("replay", "sequence"))}
    for i in range(n_logs):
        log = world.log(i)
        value, ahead = heard(log)
        for name, pair in scores(log).items():
            found[name][..., i] = pair
            truths[name][:, i] = [truth(log, name, rows) for rows in LOOKS.tolist()]
        for key in AT_THE_END:
            ends[key][i] = told(value, ahead, *key)
        ends["replay", "sequence"][i] = replayed(log, i)
    lines = [_line(name, "sequence", *_over_time(name, found[name], truths[name])) for name in SEQUENCES]
    for (name, kind), bounds in ends.items():
        at_end = truths[name if name in truths else "ips"][-1]
        lines.append(_line(name, kind, _held(bounds.T, at_end), None, np.ptp(bounds, axis=1)))
    return lines


def weights_of(log: Log) -> tuple[Array, Array, Array, Baseline]:
    at = np.arange(N_ROWS)
    p, pi = log.logging[at, log.action], log.policy[at, log.action]
    return p, pi, pi / p, baseline(log.action, log.policy, log.predicted, logging=log.logging)


def heard(log: Log) -> tuple[PolicyValue, dict[str, PolicyDifference]]:
    """Running sums that have heard the log."""
    p, pi, _, model = weights_of(log)
    value = PolicyValue(rows=N_ROWS)
    value.add_many(log.reward, p, pi, model)
    ahead = {name: PolicyDifference(rows=N_ROWS) for name in SEQUENCES if name.startswith("difference")}
    for name, one in ahead.items():
        one.add_many(log.reward, p, pi, model=model if "model" in name else None)
    return value, ahead


def scores(log: Log) -> dict[str, tuple[Array, Array]]:
    """What sequences are made of, so that those of all logs can go side by side."""
    _, _, w, model = weights_of(log)
    u, cut = log.reward, np.minimum(w, PolicyValue().clip)
    doubly = doubly_robust_scores(u, w, model)
    return {
        "ips": (w * u, w * (1.0 - u)),
        "clipped": (cut * u, cut * (1.0 - u)),
        "doubly_robust": doubly,
        "difference": (w * u + (1.0 - u), u + w * (1.0 - u)),
        "difference with model": (doubly[0] + (1.0 - u), doubly[1] + u),
    }


def truth(log: Log, name: str, rows: int) -> float:
    """What is estimated after so many rows: the mean of the values of each row."""
    values = log.value - log.logging_value if name.startswith("difference") else log.value
    return float(values[:rows].mean())


def told(
    value: PolicyValue, ahead: dict[str, PolicyDifference], estimator: str, kind: str
) -> tuple[float, float]:
    """The bounds of one interval."""
    if estimator in ahead:
        return ahead[estimator].interval(kind, level=LEVEL)[:2]
    return value.interval(estimator, kind, level=LEVEL)[:2]


def replayed(log: Log, seed: int) -> tuple[float, float]:
    at = np.arange(N_ROWS)
    most = float((log.policy / log.logging).max())
    replay = Replay(most, seed=seed)
    replay.add_many(log.reward, log.logging[at, log.action], log.policy[at, log.action])
    return replay.interval(level=LEVEL)[:2]


def _over_time(name: str, found: Array, truths: Array) -> tuple[Array, Array, Array]:
    """Which logs' intervals hold at the end, and which at all looks; the widths at the end."""
    sequence = Sequence(*SEQUENCES[name], shape=truths.shape[1:])
    always, start = np.ones(truths.shape[1], bool), 0
    for look, stop in enumerate(LOOKS.tolist()):
        sequence.add(found[0, start:stop], found[1, start:stop])
        start = stop
        always &= _not_refuted(name, sequence, truths[look])
    bounds = np.stack(sequence.anytime(LEVEL))
    return _held(bounds, truths[-1]), always, bounds[1] - bounds[0]


def _not_refuted(name: str, sequence: Sequence, truths: Array) -> Array:
    """Whether the bounds now hold these: the wealth that is bet against them is below its limit.

    It is the same as a look at the bounds, which are solved for from it, and takes a tenth of the time.
    """
    scale, offset = SEQUENCES[name]
    held, limit = np.ones(truths.shape, bool), np.log(2.0 / (1.0 - LEVEL))
    for side, mean in zip(sequence.sides, ((truths + offset) / scale, (1.0 - truths) / scale), strict=True):
        ahead = side[TOTAL] - sequence.n * mean
        some = ahead > 0.0  # below its mean nothing speaks against it
        held[some] &= log_wealth(ahead[some], side[VARIANCE][some]) <= limit + 1e-9
    return held


def _held(bounds: Array, truths: Array) -> Array:
    """A last bit is no mistake."""
    held: Array = (bounds[0] <= truths + 1e-12) & (truths - 1e-12 <= bounds[1])
    return held


def _line(name: str, kind: str, held: Array, always: Array | None, widths: Array) -> dict[str, Any]:
    return {
        "estimator": name,
        "kind": kind,
        "held": int(held.sum()),
        "always": None if always is None else int(always.sum()),
        "width": round(float(np.mean(widths)), 5),
    }
