"""What tables and figures ask of records: which data, which learner, and means over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.protocol import ALGORITHMS, DATA, MODES, STREAMS, Mode
from banditboost.experiments.records import Record, check_record, listed
from banditboost.experiments.references import is_reference, resolve, typed_name
from banditboost.experiments.statistics import PairedDifference, mean_interval, paired_difference

TITLES = {name: name.capitalize() for name in STREAMS}


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with half the width of its 95 % interval, which is NaN below three seeds."""

    mean: float
    half_width: float
    seeds: int

    @property
    def has_interval(self) -> bool:
        return self.half_width == self.half_width

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half_width:.3f}" if self.has_interval else f"{self.mean:.3f}"


def estimate(records: Iterable[Record], score: str) -> Estimate:
    """The mean of a score over records."""
    values = [float(record[score]) for record in records]
    mean, half_width = mean_interval(values)
    return Estimate(mean, half_width, len(values))


def lead(records: Iterable[Record], reference: Iterable[Record], score: str) -> PairedDifference:
    """By how much some runs are ahead of the runs of a reference with the same seeds."""
    return paired_difference(_by_seed(records, score), _by_seed(reference, score))


def _by_seed(records: Iterable[Record], score: str) -> dict[int, float]:
    return {int(record["task"]["seed"]): float(record[score]) for record in records}


def data_of(record: Record) -> str:
    """A built-in set's name, or what a file is called."""
    return str(record["task"]["source"]["name"])


def mode_of(record: Record) -> Mode:
    """Whether a run is to the letter of the paper's text: its data tell."""
    return "text" if record["task"]["source"].get("variant") == DATA["text"] else "ours"


def learner_of(record: Record) -> str:
    """A learner as it is typed on the command line."""
    task = record["task"]
    return typed_name(task["learner"], task.get("parameters", {}))


def is_told_the_label(learner: str) -> bool:
    """Whether a learner is told the right label, instead of whether the label that it showed was right.

    >>> is_told_the_label("AdaFull"), is_told_the_label("AdaBandit")
    (True, False)
    """
    name = learner.partition("+")[0]
    if not is_reference(name):
        return name.endswith("Full")
    try:
        return not hasattr(resolve(name), "decide")
    except ExperimentError:  # records of a class that is not at hand any more
        return False


def exploration_of(record: Record) -> float:
    """The exploration rate that a run had."""
    return float(record["task"]["parameters"]["exploration"])


def group(records: Iterable[Record], *keys: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Records by the values of the keys, data and learners in the paper's order, the text's mode first.

    A group is named by a value if there is one key, else by a tuple.
    """
    groups: dict[Any, list[Record]] = {}
    for record in sorted(listed(records), key=_order):
        values = tuple(key(record) for key in keys)
        groups.setdefault(values if len(keys) > 1 else values[0], []).append(record)
    return groups


def title_of(data: str) -> str:
    """How a data set is called in tables and figures."""
    return TITLES.get(data, data)


def _order(record: Record) -> tuple[Any, ...]:
    check_record(record, "task")
    data, learner, seed = data_of(record), learner_of(record), record["task"]["seed"]
    mode = MODES.index(mode_of(record))
    return _place(tuple(STREAMS), data), data, mode, _place(ALGORITHMS, learner), learner, seed


def _place(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else len(names)
