"""Equation (3) against equation (4), at the paper's settings; made from records alone.

The text says that (4) does "much better", and prints no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from banditboost.experiments.grouping import data_of, estimate, group, lead, learner_of, mode_of, title_of
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.tables import SCORES, figures
from banditboost.experiments.wording import finite, interval_note, signed

EQUATIONS = (3, 4)


def estimators(records: Iterable[Record]) -> Sheet:
    """Both equations for each booster on each stream, and the difference on the same seeds."""
    records = checked(records, "rounds", "n_labels", "estimator", *SCORES.values())
    rows, numbers = [], []
    for (data, mode, algorithm), members in group(records, data_of, mode_of, learner_of).items():
        runs = group(members, equation_of)
        stream = Entry(title_of(data), f"k = {members[0]['n_labels']}, {members[0]['rounds']:,} rounds")
        entries = [_entry(runs.get(equation, ())) for equation in EQUATIONS]
        rows.append((stream, Entry(mode), Entry(algorithm), *entries, _difference(runs)))
        numbers += [
            {"table": "estimators", "data": data, "algorithm": algorithm, "protocol": mode, **numbers_of}
            for equation in EQUATIONS
            for numbers_of in _numbers(runs.get(equation, ()), equation)
        ]
    cells = group(records, data_of, mode_of, learner_of, equation_of).values()
    spread = interval_note([estimate(runs, "accuracy") for runs in cells])
    note = f"Accuracy over the last fifth, then over all rounds: {spread} Difference: on the same seeds."
    header = ("Data", "Protocol", "Algorithm", "Equation (3)", "Equation (4)", "(4) minus (3)")
    title = "Equation (3) against equation (4)"
    return Sheet("estimators", title, note, header, tuple(rows), tuple(numbers), names=3)


def equation_of(record: Record) -> int:
    """Which equation estimated the loss in a run; (4) if nothing is said."""
    given = record["task"].get("parameters", {}).get("estimator")
    return 4 if given is None else int(given)


def _entry(runs: Sequence[Record]) -> Entry:
    if not runs:
        return Entry("-")
    last, total = (str(estimate(runs, score)) for score in SCORES.values())
    return Entry(last, total)


def _difference(runs: dict[int, list[Record]]) -> Entry:
    if len(runs) < len(EQUATIONS):
        return Entry("-")
    last, total = (lead(runs[4], runs[3], score) for score in SCORES.values())
    shown = [
        signed(found.mean) + (f" ± {found.half_width:.3f}" if finite(found.half_width) is not None else "")
        for found in (last, total)
    ]
    return Entry(*shown)


def _numbers(runs: Sequence[Record], equation: int) -> list[dict[str, Any]]:
    return [
        {"equation": equation, "score": score, **figures(estimate(runs, score), None)}
        for score in SCORES.values()
        if runs
    ]
