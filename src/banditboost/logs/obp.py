"""Open Bandit Pipeline's dict of logged feedback."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.errors import LogError
from banditboost.logs.log import Block, Log, as_objects
from banditboost.text import quoted
from banditboost.types import Array

_ROWS_A_BLOCK = 50_000


def from_obp(
    feedback: Mapping[str, Any],
    labels: Sequence[Hashable] | None = None,
    context_names: Sequence[Hashable] | None = None,
) -> Log:
    """The log in a dict as Open Bandit Pipeline and `DecisionLog.to_obp` have it.

    Args:
        feedback: with `action` and `reward`; `context`, `pscore` and `position` if they are known.
        labels: what the actions 0, 1, ... are called; None for the numbers themselves.
        context_names: of the columns of the context; None for x0, x1, ...

    >>> from banditboost import logs
    >>> log = logs.from_obp({"context": [[9.0]], "action": [0], "reward": [1], "pscore": [0.5]})
    >>> next(iter(log)).rows
    [{'x0': 9.0}]
    """
    if not isinstance(feedback, Mapping):
        raise LogError(f"feedback is {quoted(feedback)}; give a dict with action, reward and pscore")
    actions = _column(feedback, "action", np.int64)
    n = len(actions)
    columns = {name: _column(feedback, name, np.float64, n) for name in ("reward", "pscore", "position")}
    if columns["reward"] is None:
        raise LogError("feedback has no 'reward'; give a dict with action, reward and pscore")
    context = _context(feedback.get("context"), n)
    names = _names(context_names, context.shape[1])
    shown = as_objects(_labelled(actions, labels))

    def blocks() -> Iterator[Block]:
        for start in range(0, n, _ROWS_A_BLOCK):
            part = slice(start, start + _ROWS_A_BLOCK)
            told = {name: None if cells is None else cells[part] for name, cells in columns.items()}
            rows = [_row(names, cells) for cells in context[part].tolist()]
            yield Block(rows, shown[part], told["reward"], told["pscore"], told["position"])  # type: ignore[arg-type]

    return Log("the feedback", blocks)


def _row(names: list[Hashable], cells: list[float]) -> dict[Any, Any]:
    return {name: cell for name, cell in zip(names, cells, strict=True) if cell == cell}


def _column(feedback: Mapping[str, Any], name: str, kind: Any, n: int | None = None) -> Any:
    given = feedback.get(name)
    if given is None:
        if name == "action":
            raise LogError("feedback has no 'action'; give a dict with action, reward and pscore")
        return None
    try:
        column = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        column = np.zeros((0, 0))
    if column.ndim != 1 or (n is not None and len(column) != n):
        length = "" if n is None else f" with {n} of them, as there are actions"
        raise LogError(f"feedback[{name!r}] is {quoted(given)}; give a list of numbers{length}")
    if kind is np.int64:
        if not np.all((column >= 0) & (column == np.floor(column)) & (column < 2**31)):
            raise LogError(f"feedback['action'] is {quoted(given)}; give whole numbers from 0 on")
        return column.astype(np.int64)
    return column


def _context(given: Any, n: int) -> Array:
    if given is None:
        return np.zeros((n, 0))
    try:
        context = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        context = np.zeros(0)
    if context.ndim != 2 or len(context) != n:
        raise LogError(f"feedback['context'] is {quoted(given)}; give a matrix of numbers with {n} rows")
    return context


def _names(given: Iterable[Hashable] | None, n_columns: int) -> list[Hashable]:
    names: list[Hashable] = [*(f"x{i}" for i in range(n_columns))] if given is None else list(given)
    if len(names) != n_columns:
        raise LogError(f"there are {len(names)} context_names and {n_columns} columns; give one for each")
    return names


def _labelled(actions: Array, labels: Sequence[Hashable] | None) -> list[Any]:
    if labels is None:
        return list(actions.tolist())
    if len(actions) and int(actions.max()) >= len(labels):
        raise LogError(
            f"there are {len(labels)} labels, and an action is {int(actions.max())}; give a label for each "
            "action, from 0 on"
        )
    return [labels[action] for action in actions.tolist()]


def to_obp(log: Log) -> dict[str, Any]:
    """The dict that Open Bandit Pipeline calls bandit feedback: actions are places in `log.labels`.

    Numbers of the context are columns, NaN where they are missing; of other features each value is one, which
    is 1 where it is there.
    """
    blocks = list(log)
    labels = {label: place for place, label in enumerate(log.labels)}
    names: dict[Any, int] = {}
    for row in (row for block in blocks for row in block.rows):
        for name, value in row.items():
            for column in _columns_of(name, value):
                names.setdefault(column, len(names))
    missing = [0.0 if isinstance(column, tuple) else np.nan for column in names]
    context = np.tile(np.array(missing, np.float64), (log.n_rows, 1))
    rows = (row for block in blocks for row in block.rows)
    for cells, row in zip(context, rows, strict=True):
        for name, value in row.items():
            for column in _columns_of(name, value):
                cells[names[column]] = 1.0 if isinstance(column, tuple) else float(value)
    shown = [action for block in blocks for action in block.actions.tolist()]
    if None in shown:
        raise LogError(f"row {shown.index(None) + 1} has no action; leave it out")
    return {
        "n_rounds": log.n_rows,
        "n_actions": len(labels),
        "context": context,
        "action": np.array([labels[action] for action in shown], np.int64),
        "reward": _joined([block.rewards for block in blocks]),
        "pscore": _joined([block.probabilities for block in blocks]),
        "position": _joined([block.positions for block in blocks]),
    }


def _columns_of(name: Any, value: Any) -> list[Any]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [name]
    return [(name, word) for word in value] if isinstance(value, list) else [(name, value)]


def _joined(parts: list[Any]) -> Any:
    if not parts:
        return np.zeros(0)
    return None if parts[0] is None else np.concatenate(parts)
