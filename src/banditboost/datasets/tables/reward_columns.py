"""Columns of rewards: one for each label, with what it would earn in each row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from banditboost.datasets.dataset import FloatArray
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.rewards import RewardColumns
from banditboost.datasets.tables.cells import Batch, Cells, Lists, Odd, Words
from banditboost.datasets.tables.findings import MAX_LABELS, Finding
from banditboost.text import counted, quoted

STAR = "*"


def encode(rewards: RewardColumns, batch: Batch) -> FloatArray:
    """float64[rows, labels]. `KeyError` if a reward is not there any more."""
    found = [_numbers(batch.columns.get(column)) for column in rewards.columns]
    if any(numbers is None or not np.isfinite(numbers).all() for numbers in found):
        raise KeyError("a row without a reward")
    return np.column_stack(found)  # type: ignore[arg-type]


def _numbers(cells: Cells | None) -> FloatArray | None:
    if isinstance(cells, Words):
        return cells.look_up(cells.numbers)
    return None if cells is None or isinstance(cells, (Odd, Lists)) else cells


def columns_of(patterns: Collection[str], names: Collection[str]) -> dict[str, str]:
    """The columns that patterns stand for, each with its label: what the star stands for, or its whole name.

    >>> columns_of(["price_*"], ["hour", "price_film", "price_news"])
    {'price_film': 'film', 'price_news': 'news'}
    >>> columns_of(["film", "news"], ["hour", "film", "news"])
    {'film': 'film', 'news': 'news'}
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        here = _fitting(pattern, names)
        if not here:
            raise DatasetError(
                f"rewards has {pattern!r}, and no column is called so: its columns are "
                f"{', '.join(list(names)[:20])}"
            )
        for column, label in here.items():
            if column in found:
                raise DatasetError(f"rewards has column {column!r} twice: name each column once")
            if label in found.values():
                raise DatasetError(
                    f"rewards has two columns for the label {label!r}, one of them {column!r}: rename one, "
                    "or name columns in full"
                )
            found[column] = label
    if len(found) < 2:
        raise DatasetError(
            f"rewards is {', '.join(found)}, one column: give a column for each label, of which there are "
            "two or more"
        )
    return found


def _fitting(pattern: str, names: Collection[str]) -> dict[str, str]:
    if pattern in names:
        return {pattern: pattern}
    if pattern.count(STAR) != 1:
        return {}
    shape = re.compile("(.+)".join(map(re.escape, pattern.split(STAR))), re.DOTALL)
    matches = ((name, shape.fullmatch(name)) for name in names)
    return {name: match[1] for name, match in matches if match}


def settle_rewards(findings: Mapping[str, Finding], labels: Mapping[str, str]) -> RewardColumns:
    """The reward columns, each of which has a number in each row."""
    if len(labels) > MAX_LABELS:
        raise DatasetError(f"rewards names {len(labels):,} columns: give at most {MAX_LABELS:,}")
    for column in labels:
        _check(findings[column])
    low = min(labels, key=lambda column: findings[column].low)
    high = max(labels, key=lambda column: findings[column].high)
    least, most = findings[low], findings[high]
    return RewardColumns(
        tuple(labels),
        tuple(labels.values()),
        (least.low, low, least.lowest),
        (most.high, high, most.highest),
    )


def _check(finding: Finding) -> None:
    name = finding.name
    if finding.unfit is not None:
        raise DatasetError(f"column {name!r} {finding.unfit}")
    if finding.infinite is not None:
        raise DatasetError(f"column {name!r} is infinite in {finding.infinite}: rewards are finite numbers")
    if finding.odd is not None or finding.lists or finding.dated:
        what = f"{quoted(finding.odd[0])} in {finding.odd[1]}" if finding.odd else "lists or dates"
        raise DatasetError(
            f"column {name!r} holds {what}, which is no reward: give numbers, or leave the column out of "
            "rewards"
        )
    missing = finding.missing + finding.texts
    if missing or not finding.numbers:
        where = f", the first is {finding.gap}" if finding.gap else ""
        raise DatasetError(
            f"column {name!r} has no reward in {counted(missing, 'row')}{where}: each row needs the reward "
            "of each label; leave such rows out, or fill in what the label would have earned"
        )
