"""Vowpal Wabbit's two forms of logs: `action:cost:probability | features`, and dsjson, as Azure's
Personalizer and the RL client library write it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from banditboost.datasets.tables.text_files import open_text
from banditboost.errors import LogError
from banditboost.logs.log import Block, Log, as_objects
from banditboost.text import quoted
from banditboost.validation import is_number

_ROWS_A_BLOCK = 20_000
OWN_NAMESPACE = "x"  # as DecisionLog writes the context in dsjson: its names stand alone
Lines = str | os.PathLike[str] | Sequence[str]


class _Row(NamedTuple):
    x: dict[Any, Any]
    action: Hashable
    cost: float
    probability: float
    time: Any = None
    id: Any = None
    options: dict[Hashable, dict[Any, Any]] | None = None


def read_vw(source: Lines, labels: Sequence[Hashable] | None = None, *, best: float = 0.0) -> Log:
    """Lines `action:cost:probability | features`, as for `--cb`, from a file or a list.

    A feature `a=b` becomes the name a with the value b, `a:2` a number, and `a` alone the number 1; names of
    a namespace ns are ns^a. `%20` and the like are read as the characters that they stand for.

    Args:
        source: the path of a file, which may end in .gz or .zst, or the lines.
        labels: what the actions 1, 2, ... are called; None for the numbers themselves.
        best: the reward of a cost of 0: the reward is best - cost. 1 reads what `DecisionLog.to_vw` wrote of
            verdicts.

    >>> from banditboost import logs
    >>> log = logs.read_vw(["1:0:0.9 | hour:21.0 device=phone"], labels=["sports", "news"], best=1)
    >>> block = next(iter(log))
    >>> block.rows, block.actions.tolist(), block.rewards.tolist()
    ([{'hour': 21.0, 'device': 'phone'}], ['sports'], [1.0])
    """
    return _log(source, _from_text, labels, best)


def read_dsjson(source: Lines, labels: Sequence[Hashable] | None = None, *, best: float = 0.0) -> Log:
    """Lines of dsjson, as for `--dsjson --cb_explore_adf`, from a file or a list.

    An action is called by its `_tag`, or by a feature `label` or `id` that it has, else by its number from 1
    on. Events that were never activated (`_skipLearn`) are left out, as Vowpal Wabbit leaves them out. A
    feature of a namespace ns is ns.a; only the namespace x, which DecisionLog writes, is not named.

    Args:
        source: the path of a file, which may end in .gz or .zst, or the lines.
        labels: what the actions 1, 2, ... are called, whatever the file says.
        best: the reward of a cost of 0: the reward is best - cost.
    """
    return _log(source, _from_event, labels, best)


def _log(source: Lines, parse: Any, labels: Sequence[Hashable] | None, best: float) -> Log:
    if not is_number(best) or not math.isfinite(best):
        raise LogError(f"best is {quoted(best)}; give the reward that a cost of 0 stands for")
    if isinstance(source, (str, os.PathLike)):
        name, path = os.fspath(source), Path(source)
        if not path.is_file():
            raise LogError(f"there is no file {name}; give the path of a file, or a list of lines")
    else:
        name, lines = "the lines", _listed(source)

    def blocks() -> Iterator[Block]:
        with _opened(path) if isinstance(source, (str, os.PathLike)) else _given(lines) as text:
            numbered = ((number, line) for number, line in enumerate(text, 1) if line.strip())
            rows = (row for number, line in numbered if (row := _parsed(parse, name, number, line, labels)))
            while some := list(islice(rows, _ROWS_A_BLOCK)):
                yield _block(some, best)

    return Log(name, blocks)


def _listed(source: Any) -> list[str]:
    try:
        lines = list(source)
    except TypeError:
        lines = [None]
    if not all(isinstance(line, str) for line in lines):
        raise LogError(f"source is {quoted(source)}; give the path of a file, or a list of lines")
    return lines


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[str]]:
    with open_text(path, None) as text:
        yield text


@contextmanager
def _given(lines: list[str]) -> Iterator[Iterable[str]]:
    yield lines


def _parsed(parse: Any, name: str, number: int, line: str, labels: Sequence[Hashable] | None) -> _Row | None:
    try:
        row: _Row | None = parse(line, labels)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        told = error.args[0] if isinstance(error, _UnreadableError) else "it is cut short, or of another form"
        raise LogError(
            f"{name} cannot be read in line {number}: {told}; repair the line, or leave it out"
        ) from None
    return row


class _UnreadableError(ValueError):
    """Why a line cannot be read."""


def _block(rows: list[_Row], best: float) -> Block:
    options = [row.options or {} for row in rows] if any(row.options for row in rows) else None
    times, ids = ([row.time for row in rows], [row.id for row in rows])
    return Block(
        [row.x for row in rows],
        as_objects([row.action for row in rows]),
        best - np.array([row.cost for row in rows]),
        np.array([row.probability for row in rows]),
        times=as_objects(times) if any(time is not None for time in times) else None,
        ids=as_objects(ids) if any(id_ is not None for id_ in ids) else None,
        options=options,
    )


def _called(number: int, labels: Sequence[Hashable] | None) -> Hashable:
    """The label of an action, counted from 1."""
    if labels is None:
        return number
    if not 1 <= number <= len(labels):
        raise _UnreadableError(f"its action is {number}, and there are {len(labels)} labels")
    return labels[number - 1]


# Text


def _from_text(line: str, labels: Sequence[Hashable] | None) -> _Row:
    head, bar, rest = line.partition("|")
    if not bar:
        raise _UnreadableError("it has no bar between label and features")
    words = head.split()
    if words and words[0] == "shared":
        raise _UnreadableError("it is a shared line of --cb_explore_adf: log such decisions as dsjson")
    told = [word for word in words if word.count(":") == 2]
    if len(told) != 1:
        raise _UnreadableError(f"it has {len(told)} labels action:cost:probability, and needs one")
    action, cost, probability = told[0].split(":")
    return _Row(_features(rest), _called(int(action), labels), float(cost), float(probability))


def _features(text: str) -> dict[Any, Any]:
    """Those of all namespaces."""
    x: dict[Any, Any] = {}
    for part in text.split("|"):
        words = part.split()
        has_name = bool(words) and not part[0].isspace()
        namespace, _, weight = words.pop(0).partition(":") if has_name else ("", "", "")
        scale = float(weight) if weight else 1.0
        for word in words:
            name, value = _feature(word, scale)
            name = f"{unquote(namespace)}^{name}" if namespace else name
            if isinstance(value, str) and name in x:  # a column of words
                before = x[name] if isinstance(x[name], list) else [x[name]]
                value = [*before, value]
            x[name] = value
    return x


def _feature(word: str, scale: float) -> tuple[str, Any]:
    name, colon, number = word.rpartition(":")
    if colon:
        return unquote(name), float(number) * scale
    name, equals, value = word.partition("=")
    return (unquote(name), unquote(value)) if equals else (unquote(name), scale)


# dsjson


def _from_event(line: str, labels: Sequence[Hashable] | None) -> _Row | None:
    event = json.loads(line)
    if not isinstance(event, dict):
        raise _UnreadableError("it is no JSON object")
    if event.get("_skipLearn") is True or ("c" not in event and "RewardValue" in event):
        return None  # never activated, or a reward that found no decision
    context = dict(event["c"])
    actions = [_flat(action) for action in context.pop("_multi", [])]
    place = int(event["_labelIndex"]) if "_labelIndex" in event else int(event["_label_Action"]) - 1
    called = [_name_of(action, i) for i, action in enumerate(actions)]
    if labels is not None or not 0 <= place < len(called):
        action = _called(place + 1, labels)
    else:
        action = called[place]
    probability = event.get("_label_probability", event["p"][0] if "p" in event else math.nan)
    options = {called[i]: features for i, features in enumerate(actions)} if labels is None else None
    return _Row(
        _flat(context),
        action,
        float(event["_label_cost"]),
        float(probability),
        event.get("Timestamp"),
        event.get("EventId"),
        options,
    )


def _name_of(action: dict[Any, Any], place: int) -> Hashable:
    """What an action is called; what names it is not among its features any more."""
    for name in ("_tag", "a.label", "label", "i.id", "id"):
        told = action.pop(name, None)
        if isinstance(told, (str, int)):
            return told
    return place + 1


def _flat(told: Any) -> dict[Any, Any]:
    """Features of all namespaces, by names such as ns.a; None is missing."""
    found: dict[Any, Any] = {}
    for name, value in told.items():
        if name.startswith("_") and name != "_tag":
            continue  # Vowpal Wabbit leaves it out, too
        if isinstance(value, dict):
            own = name == OWN_NAMESPACE
            inner = _flat(value)
            found.update({inside if own else f"{name}.{inside}": cell for inside, cell in inner.items()})
        elif isinstance(value, list):
            found.update(_listed_features(name, value))
        elif value is not None:
            found[name] = value
    return found


def _listed_features(name: str, values: list[Any]) -> dict[Any, Any]:
    """A list of objects is one namespace, a list of texts words, a list of numbers one feature for each."""
    if all(isinstance(value, dict) for value in values):
        return {f"{name}.{inside}": cell for value in values for inside, cell in _flat(value).items()}
    if all(isinstance(value, str) for value in values):
        return {name: values}
    return {f"{name}.{i}": value for i, value in enumerate(values) if is_number(value)}


def escaped(text: str) -> str:
    """Text as part of a Vowpal Wabbit feature.

    There is no space, colon or bar in it, no leading underscore, and it is no whole number (which is hashed
    otherwise).
    """
    safe = quote(text, safe="", errors="surrogatepass")
    special = safe.isdigit() or safe.startswith("_")
    return f"%{ord(safe[0]):02X}{safe[1:]}" if special else safe
