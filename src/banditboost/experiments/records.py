"""Whether records hold what tables and figures are made of: a results file may have been edited."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted

Record = Mapping[str, Any]
_MOST = 2**63
_PARAMETERS = ("exploration", "n_learners", "estimator")
"""Fields of the task's parameters, not of the record itself."""


def checked(records: Iterable[Record], *fields: str) -> list[Record]:
    """The records, if there is at least one, and each has these fields."""
    found = listed(records)
    if not found:
        raise ExperimentError("records is empty; give at least one record of a task")
    for record in found:
        check_record(record, *fields)
    return found


def listed(records: Any) -> list[Record]:
    """Records in a list, whatever they come in."""
    try:
        return list(records)
    except TypeError:
        raise ExperimentError(f"records is {quoted(records)}; give records of tasks") from None


def check_record(record: Record, *fields: str) -> None:
    """Refuse a record without one of these fields, or with something else in it.

    >>> check_record({"id": "a", "rounds": "many"}, "rounds")
    Traceback (most recent call last):
    banditboost...ExperimentError: the record 'a' has 'many' for rounds; delete its line, run again
    """
    if not isinstance(record, Mapping):
        raise ExperimentError(f"a record is {quoted(record)}; give records of tasks")
    for field in fields:
        value = _parameter(record, field) if field in _PARAMETERS else record.get(field)
        if not _SOUND[field](value):
            raise ExperimentError(
                f"the record {quoted(record.get('id'))} has {quoted(value)[:80]} for {field}; "
                "delete its line, run again"
            )


def is_number(value: Any) -> bool:
    """Whether this is a finite number, as JSON has them."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < _MOST if isinstance(value, int) else math.isfinite(value)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and is_number(value) and value >= 0


def _is_task(task: Any) -> bool:
    if not isinstance(task, Mapping) or not isinstance(task.get("source"), Mapping):
        return False
    name, learner = task["source"].get("name"), task.get("learner")
    if not isinstance(name, str) or not isinstance(learner, str) or not learner:
        return False
    return is_count(task.get("seed")) and _are_parameters(task.get("parameters", {}))


def _are_parameters(parameters: Any) -> bool:
    if not _is_named(parameters):
        return False
    rate, weak_learner = parameters.get("exploration"), parameters.get("weak_learner")
    known = rate is None or isinstance(rate, str) or is_number(rate)
    return known and (weak_learner is None or isinstance(weak_learner, str))


def _is_curve(curve: Any) -> bool:
    if not isinstance(curve, Mapping) or not is_number(curve.get("window")):
        return False
    rounds, accuracy = curve.get("round"), curve.get("accuracy")
    if not isinstance(rounds, list) or not isinstance(accuracy, list):
        return False
    return len(rounds) == len(accuracy) > 0 and all(map(is_number, [*rounds, *accuracy]))


def _is_named(values: Any) -> bool:
    return isinstance(values, Mapping) and all(isinstance(name, str) for name in values)


def _parameter(record: Record, name: str) -> Any:
    check_record(record, "task")
    return record["task"].get("parameters", {}).get(name)


_SOUND: Mapping[str, Callable[[Any], bool]] = {
    "id": lambda name: isinstance(name, str),
    "task": _is_task,
    "exploration": is_number,
    "n_learners": is_count,
    "estimator": lambda number: number is None or is_count(number),
    "rounds": is_count,
    "n_labels": is_count,
    "memory_bytes": is_count,
    "accuracy": is_number,
    "last_accuracy": is_number,
    "greedy_accuracy": is_number,
    "rounds_per_second": is_number,
    "seconds": is_number,
    "curve": _is_curve,
    "machine": _is_named,
    "versions": _is_named,
    "finished": lambda moment: isinstance(moment, str),
}
