"""Results files and records: changed lines, and what is made from records that were edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from banditboost.experiments import agreement, comparison, estimators, report, searches, statistics, tables
from banditboost.experiments.results import Results
from tests.experiments.made_up import record
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, look_at_text
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand

_SOUND = [
    {**record(data, learner, seed), "curve": {"window": 0.2, "round": [200, 1000], "accuracy": [0.5, 0.75]}}
    for data in ("car", "clicks.csv")
    for learner in ("AdaBandit", "GapBoost", "AdaFull")
    for seed in (1, 2, 3)
]
_DOORS: tuple[Any, ...] = (
    comparison.summary,
    tables.table1,
    searches.table4,
    searches.learners,
    estimators.estimators,
    agreement.within,
    agreement.orders,
    lambda records: report.page(report.Report("x", [], records)),
    lambda records: comparison.summary(records, against="AdaBandit"),
)


def play(luck: Luck, folder: Path) -> str:
    records = [
        values.changed(luck, item) if luck.chance(0.4) else item
        for item in luck.sample(_SOUND, luck.randint(0, 9))
    ]
    how = luck.randrange(3)
    if how == 0:
        return _read_file(luck, records, folder)
    if how == 1:
        return _append(luck, folder)
    given: Any = records if luck.chance(0.9) else values.thing(luck)
    _, error = attempt(lambda: luck.choice(_DOORS)(given))
    if luck.chance(0.1):
        junk = values.thing(luck)
        attempt(lambda: statistics.mean_interval(junk))
        attempt(lambda: statistics.paired_difference({1: 0.5}, junk))
    return ACCEPTED if error is None else REFUSED


def _read_file(luck: Luck, records: list[Any], folder: Path) -> str:
    """A file of records, of which bytes may be changed too."""
    lines = []
    for item in records:
        try:
            lines.append(json.dumps(item).encode())
        except (TypeError, ValueError):
            continue
    content = b"".join(line + b"\n" for line in lines)
    if luck.chance(0.5):
        content = values.changed_bytes(luck, content)
    path = folder / "results.jsonl"
    path.write_bytes(content)
    results = Results(path)
    read, error = attempt(results.records)
    _, refused = attempt(lambda: results.append({"id": "new", "accuracy": 0.5}))
    if refused is not None:
        demand(path.read_bytes() == content, "append was refused and has changed the file")
    elif error is None:
        demand("new" in results.finished_ids(), "what was appended is not there")
    if error is not None:
        return REFUSED
    _, error = attempt(lambda: luck.choice(_DOORS)(read))
    return ACCEPTED if error is None else REFUSED


def _append(luck: Luck, folder: Path) -> str:
    path = folder / "results.jsonl"
    path.write_bytes(b"")
    junk = values.changed(luck, _SOUND[0]) if luck.chance(0.5) else values.thing(luck)
    _, error = attempt(lambda: Results(path).append(junk))
    if error is not None:
        demand(path.read_bytes() == b"", "append was refused and has changed the file")
        return REFUSED
    look_at_text(path.read_text())
    return ACCEPTED
