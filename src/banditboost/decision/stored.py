"""A decision as plain data, and back, after a look at all of it.

What is read here may come from anywhere. So nothing is made that is larger than the data itself: how many
labels there were is a number like any other, and only the model can judge it.

The checksum finds what was changed by accident, in any place. It is no secret: who wants to deceive can
compute it anew, and for places that others can write to there are tokens (tokens.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from banditboost.decision.labels import check_stored_label, indices_in
from banditboost.decision.origin import Origin
from banditboost.distribution import is_possible
from banditboost.errors import DecisionError
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import UnreadableError, decode, json_digest
from banditboost.memo import CHOSEN_EXPERT, GREEDY, LEAST_PROBABILITY, PROBABILITY, RATE, ROUND, SHOWN, VOTES
from banditboost.rows.vocabulary import short_number
from banditboost.text import quoted
from banditboost.types import Array

FORMAT = 4
# 1 to 3 have no checksum. 1 and 2 do not tell branch and run; in 1 all labels were allowed.
_READABLE = (1, 2, 3, FORMAT)
_MOST_LABELS = 1 << 31  # trees keep labels as 32-bit numbers
_ALWAYS = ("format", "model", "memo", "labels", "label", "greedy")
_NUMBERS = {int, float, type(None)}
_HEXADECIMAL = re.compile("[1-9a-f][0-9a-f]*")
_DIGEST = re.compile("[0-9a-f]{16}")


class Parts(NamedTuple):
    """What plain data tells of a decision."""

    origin: Origin
    n_labels: int
    mask: int  # of the allowed labels, 0 for all
    label: Any  # as JSON carries it
    greedy: Any
    digest: str  # of a branch's labels
    memo: Array  # without a branch's row
    row: Any  # of a branch, as JSON carries it


def plain_of(parts: Parts) -> dict[str, Any]:
    """The dict that `to_dict` returns."""
    return {**unsealed(parts), "checksum": checksum(parts)}


def unsealed(parts: Parts) -> dict[str, Any]:
    """The same without its checksum, for those who seal it themselves."""
    origin, told = parts.origin, parts.origin.branch
    return {
        "format": FORMAT,
        **({"allowed": f"{parts.mask:x}"} if parts.mask else {}),
        "model": origin.model,
        **({"branch": origin.branch} if told else {}),
        "run": origin.run,
        "labels": parts.n_labels,
        "label": parts.label,
        "greedy": parts.greedy,
        **({"labels_digest": parts.digest} if told else {}),
        "memo": [None if value != value else short_number(value) for value in parts.memo.tolist()],
        **({"row": parts.row} if told else {}),
    }


def checksum(parts: Parts) -> str:
    """Sixteen characters that differ if anything that a decision tells does."""
    origin, numbers = parts.origin, parts.memo + 0.0  # no minus zero
    numbers[np.isnan(numbers)] = math.nan
    names = [origin.model, origin.branch, origin.run, parts.n_labels, f"{parts.mask:x}", parts.digest]
    return json_digest([names, parts.label, parts.greedy, parts.row], numbers.astype("<f8").tobytes())


# Reading


def parts_of(data: Any) -> Parts:
    """What a dict of `to_dict` tells; a DecisionError if it was changed on its way."""
    parts = parts_unsealed(data)
    told = data.get("checksum")
    if not (_is_checksum(told, parts) if data["format"] == FORMAT else told is None):
        raise DecisionError(
            f"the stored decision's checksum is {quoted(told)}, which is not that of its contents: it was "
            "changed or cut since to_dict; give the whole dict that to_dict returned"
        )
    return parts


def parts_unsealed(data: Any) -> Parts:
    """The same without a look at the checksum."""
    for key in _ALWAYS:
        if not isinstance(data, Mapping) or key not in data:
            raise DecisionError(
                f"the stored decision has no {key!r}; give the whole dict that to_dict returned"
            )
    _check_format(data["format"])
    n_labels = data["labels"]
    if type(n_labels) is not int or not 1 <= n_labels < _MOST_LABELS:
        raise DecisionError(
            f"the decision was made among {quoted(n_labels)} labels; give the whole dict of to_dict"
        )
    mask = _mask_from(data, n_labels)
    memo = _memo_from(data["memo"], n_labels, mask)
    origin = _origin_from(data)
    label, greedy = data["label"], data["greedy"]
    check_stored_label(label)
    check_stored_label(greedy)
    if memo[SHOWN] == memo[GREEDY] and label != greedy:
        raise DecisionError(
            f"the stored decision has two names for one label, {quoted(label)} and {quoted(greedy)}; it was "
            "changed since to_dict"
        )
    told = bool(origin.branch)
    digest, row = (_digest_from(data), data.get("row")) if told else ("", None)
    return Parts(origin, n_labels, mask, label, greedy, digest, memo, row)


def row_from(parts: Parts) -> Any:
    """The row that a branch's decision tells by names and values."""
    try:
        row = decode(parts.row)
    except UnreadableError:
        row = None
    if not isinstance(row, (dict, list)):
        raise DecisionError("the stored decision has no 'row'; give the whole dict that to_dict returned")
    return row


def _check_format(number: Any) -> None:
    if type(number) is not int or number not in _READABLE:
        readable = ", ".join(map(str, _READABLE))
        raise DecisionError(
            f"format {quoted(number)} of a decision is unknown to this version; it reads formats {readable}"
        )


def _mask_from(data: Mapping[str, Any], n_labels: int) -> int:
    """The allowed labels of a stored decision; 0 if all were."""
    told = data.get("allowed")
    if data["format"] == 1 or (data["format"] >= 3 and told is None):
        return 0
    if not isinstance(told, str) or len(told) > n_labels or not _HEXADECIMAL.fullmatch(told):
        raise DecisionError(
            f"the stored decision's allowed labels are {quoted(told)}; give the whole dict that to_dict "
            "returned"
        )
    return int(told, 16)


def _origin_from(data: Mapping[str, Any]) -> Origin:
    """Who made a stored decision; versions before format 3 did not tell branch and run."""
    told = data if data["format"] >= 3 else {"model": data["model"], "run": ""}
    model, branch, run = told["model"], told.get("branch", ""), told.get("run")
    if (
        not isinstance(model, str)
        or not isinstance(branch, str)
        or not isinstance(run, str)
        or not (_DIGEST.fullmatch(run) or (not run and not branch))
    ):
        raise DecisionError(
            "the stored decision does not tell who made it; give the whole dict that to_dict returned"
        )
    return Origin(model, branch, run)


def _digest_from(data: Mapping[str, Any]) -> str:
    digest = data.get("labels_digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise DecisionError(
            "the stored decision has no 'labels_digest'; give the whole dict that to_dict returned"
        )
    return digest


def _memo_from(numbers: Any, n_labels: int, mask: int) -> Array:
    """A memo from plain data, after a look at what every memo begins with."""
    try:
        if type(numbers) not in (list, tuple) or not _NUMBERS.issuperset(map(type, numbers)):
            raise TypeError
        memo = np.array([math.nan if value is None else value for value in numbers], dtype=np.float64)
    except (TypeError, OverflowError):
        raise DecisionError(
            f"the stored decision's memo is {quoted(numbers)}; give the list of numbers that to_dict returned"
        ) from None
    head = memo[:VOTES].tolist()
    if len(head) < VOTES or not all(map(math.isfinite, head)):
        raise DecisionError(
            "the stored decision's memo is cut short or has a gap; give the list that to_dict returned"
        )
    possible = (
        0.0 <= head[ROUND] < MOST_ROUNDS
        and all(head[place].is_integer() for place in (ROUND, SHOWN, GREEDY, CHOSEN_EXPERT))
        and all(0.0 <= head[place] < n_labels for place in (SHOWN, GREEDY))
        and 0.0 <= head[RATE] < 1.0
        and head[PROBABILITY] >= LEAST_PROBABILITY
    )
    if not possible or not is_possible(memo, n_labels, indices_in(mask)):
        raise DecisionError(
            "the stored decision's memo names no possible round, label or probability; it was changed since "
            "to_dict"
        )
    return memo


def _is_checksum(told: Any, parts: Parts) -> bool:
    try:
        return isinstance(told, str) and told == checksum(parts)
    except (TypeError, ValueError, RecursionError):  # a row that is not even JSON
        return False
