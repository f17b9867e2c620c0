"""What the page is told of a model's statistics: estimates in the units of the rewards, with their bounds.

To find bounds takes milliseconds, so this is done beside the event loop, on a look that does not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence as Rows
from typing import Any

import numpy as np

from banditboost.evaluation.mixture import boundary
from banditboost.evaluation.sequence import Sequence
from banditboost.rewards import Range, in_units
from banditboost.serve.messages import Label
from banditboost.serve.statistics.comparing import Comparisons, control_sequence
from banditboost.serve.statistics.labels import Line
from banditboost.serve.statistics.points import SPANS, Point, Standing
from banditboost.serve.statistics.watching import LATENESS, Look
from banditboost.types import Array

LEVEL = 0.95
MOST_LINES = 100
_MOST_MARGINS = 50_000
_margins: dict[float, float] = {}  # by variance: looks ask for the same points again and again


def show(look: Look, span: str) -> dict[str, Any]:
    """Everything that is drawn, as JSON has it."""
    found = look.comparisons
    return {
        "rewards": list(found.rewards),
        "level": LEVEL,
        "span": span,
        "seconds": SPANS[span][0],
        "counts": look.counts,
        "arms": look.arms,
        "lateness": {"edges": list(LATENESS), "counts": look.lateness},
        "marks": look.marks,
        "labels": _lines(look.lines, found.rewards),
        "latest": look.latest[::-1],
        "value": {"rewards": found.value.n, **_value(found)},
        "others": {"since": look.since[0], "rewards": found.others.n, **_others(found)},
        "control": report(look),
        "points": _points(look, SPANS[span][0]),
    }


def report(look: Look) -> dict[str, Any]:
    """Is the model better than its control group: by how much, and since when?"""
    found = look.comparisons
    n_model, model, n_control, control = found.groups.tolist()
    ahead = _ahead(found.control, found, _total(found.control))
    return {
        "share": found.share,
        "since": look.since[1],
        "level": LEVEL,
        "model": {"rewards": int(n_model), "mean": _mean(model, n_model, found.rewards)},
        "control": {"rewards": int(n_control), "mean": _mean(control, n_control, found.rewards)},
        "ahead": ahead,
        "better_since": _better_since(look) if ahead["low"] > 0.0 else None,
    }


def _better_since(look: Look) -> float:
    """Since when, without a break, the lower bound has been above 0."""
    within = [(at, standing) for at, standing in look.history if at > look.since[1]]
    lows, _ = _differences([standing for _, standing in within], look)
    behind = [place for place, low in enumerate(lows) if low <= 0.0]
    return float(within[behind[-1] + 1 if behind else 0][0])


def _value(found: Comparisons) -> dict[str, Any]:
    low, high = found.value.anytime(LEVEL)
    estimate = _mean(_total(found.value), found.value.n, found.rewards)
    return {
        "estimate": estimate,
        "low": in_units(float(low), found.rewards),
        "high": in_units(float(high), found.rewards),
    }


def _others(found: Comparisons) -> dict[str, Any]:
    """Chance, and the constants from the best one on.

    Bounds on constants hold for all of them together, so also for the one that looks best.
    """
    level = 1.0 - (1.0 - LEVEL) / max(1, len(found.constants))
    uniform, constants = found.others.anytime(LEVEL), found.others.anytime(level)
    told = [_other(found, 0, uniform, None)]
    told += [_other(found, i, constants, label) for i, label in enumerate(found.constants, start=1)]
    ranked = sorted(told[1:], key=lambda line: -(line["estimate"] or 0.0))
    return {"uniform": told[0], "constants": ranked}


def _other(
    found: Comparisons, place: int, bounds: tuple[Array, Array], label: Label | None
) -> dict[str, Any]:
    """What it would have earned, and by how much the model is ahead of it."""
    n, (low, high) = found.others.n, (float(bound[place]) for bound in bounds)
    beyond = 2.0 * float(found.others.sides[0, 0, place]) / n - 1.0 if n else 0.0
    return {
        "label": label,
        "estimate": _mean(found.others_earned + n * beyond, n, found.rewards),
        "ahead": {
            "estimate": _width(found) * -beyond if n else None,
            "low": _width(found) * -high,
            "high": _width(found) * -low,
        },
    }


def _points(look: Look, seconds: int) -> list[dict[str, Any]]:
    standings = [point.standing for point in look.points]
    values = _bounds(Sequence(), [s.sides for s in standings], [s.n for s in standings])
    bounds = zip(*values, *_differences(standings, look), strict=True)
    return [_point(look, point, seconds, bound) for point, bound in zip(look.points, bounds, strict=True)]


def _point(look: Look, point: Point, seconds: int, bounds: tuple[float, ...]) -> dict[str, Any]:
    found, standing, end = look.comparisons, point.standing, point.start + seconds
    value = _mean(standing.sides[0], standing.n, found.rewards)
    low, high = (in_units(float(bound), found.rewards) for bound in bounds[:2])
    compared, drawn = end > look.since[0], end > look.since[1] and standing.control_n
    return {
        **_counted(point, found.rewards),
        "value": [value, low, high] if standing.n else None,
        "uniform": _estimate(standing, standing.uniform, found) if compared else None,
        "best": _estimate(standing, standing.best, found) if compared and found.constants else None,
        "baseline": _mean(standing.baseline, standing.baseline_n, found.rewards),
        "ahead": [_control_estimate(standing, found), *bounds[2:]] if drawn else None,
    }


def _counted(point: Point, rewards: Range) -> dict[str, Any]:
    return {
        "start": point.start,
        "decisions": point.decisions,
        "explored": point.explored,
        "by_baseline": point.by_baseline,
        "rewards": point.rewards,
        "mean": _mean(point.earned, point.rewards, rewards),
        "labels": [list(item) for item in point.labels.items()],
        "others": point.others,
    }


def _estimate(standing: Standing, total: float, found: Comparisons) -> float | None:
    """What another policy would have earned so far with the model's decisions."""
    n = standing.others_n
    return _mean(standing.others_earned + 2.0 * total - n, n, found.rewards)


def _control_estimate(standing: Standing, found: Comparisons) -> float:
    """By how much the model is ahead of the control group."""
    n, total = standing.control_n, standing.control[0] * found.control.scale
    return _width(found) * (total - n) / n


def _differences(standings: Rows[Standing], look: Look) -> tuple[list[float], list[float]]:
    """Bounds on by how much the model is ahead of the control group."""
    sequence, width = control_sequence(look.comparisons.share), _width(look.comparisons)
    low, high = _bounds(sequence, [s.control for s in standings], [s.control_n for s in standings])
    return (width * low).tolist(), (width * high).tolist()


def _bounds(sequence: Sequence, sides: Rows[tuple[float, ...]], counts: Rows[int]) -> tuple[Array, Array]:
    """As the sequence would have told them when its totals and variances were these."""
    found = np.array(sides).reshape(-1, 2, 2)
    totals, variances = found[:, :, 0].T, found[:, :, 1].T
    n = np.array(counts, np.float64)
    lower = np.where(n > 0.0, (totals - _margin(variances)) / np.maximum(n, 1.0), -math.inf)
    return sequence.target(lower)


def _margin(variances: Array) -> Array:
    new = sorted({v for v in variances.ravel().tolist() if v not in _margins})
    if len(_margins) + len(new) > _MOST_MARGINS:
        _margins.clear()
        return _margin(variances)
    found = boundary(np.array(new), math.log(2.0 / (1.0 - LEVEL))).tolist() if new else []
    _margins.update(zip(new, found, strict=True))
    return np.array([_margins[v] for v in variances.ravel().tolist()]).reshape(variances.shape)


def _lines(lines: dict[Label, Line], rewards: Range) -> list[dict[str, Any]]:
    """The labels that were shown most."""
    shown = sorted(lines.items(), key=lambda item: -item[1].shown)[:MOST_LINES]
    return [
        {
            "label": label,
            "shown": line.shown,
            "rewards": line.rewards,
            "mean": _mean(line.earned, line.rewards, rewards),
            "weighted": _mean(line.weighted, line.weights, rewards),
        }
        for label, line in shown
    ]


def _ahead(sequence: Sequence, found: Comparisons, total: float) -> dict[str, Any]:
    low, high = sequence.anytime(LEVEL)
    estimate = (total - sequence.n) / sequence.n * _width(found) if sequence.n else None
    return {"estimate": estimate, "low": _width(found) * float(low), "high": _width(found) * float(high)}


def _total(sequence: Sequence) -> float:
    """The sum of the scores of the lower side."""
    return float(sequence.sides[0, 0]) * sequence.scale


def _width(found: Comparisons) -> float:
    return found.rewards[1] - found.rewards[0]


def _mean(total: float, n: float, rewards: Range) -> float | None:
    """In the units of the rewards; None of nothing. An estimate may be beyond the range."""
    return rewards[0] + (rewards[1] - rewards[0]) * total / n if n else None
