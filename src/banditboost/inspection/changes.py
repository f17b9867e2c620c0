"""Changes of the world that a model has noticed, and what it needs for that: the test is in
boosting/change.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.text import visible
from banditboost.types import Array

# Of a label, or of all together: rewards heard since the last change, how much they were on average beyond
# what was expected, and the sums of the test for odds that have fallen by either factor. Then the same of the
# rounds in which the label was not the greedy one, for odds that have risen. At last, 1 if the label is
# learned anew, since the world has changed or its own rewards have risen.
HEARD, EXCESS, FALLS, TRIED, TRIED_EXCESS, RISE, ANEW = 0, 1, 2, 4, 5, 6, 7
PER_LABEL = 8
THRESHOLD = 10.0  # of a sum that is an alarm,
LEAST_RISE = 5.0  # and of one after which a label is learned anew
MOST_NOTED = 64  # changes of which is known when they were noticed
VERDICTS, LABEL = 0, 1
NOBODY = -1.0  # the label of a change that was not noticed on one label's rewards


@dataclass(frozen=True)
class Change:
    """A change of the world that a model has noticed: rewards fell below what it had learned to expect.

    >>> change = Change(number=1, verdicts=50119, label="sale")
    >>> print(change)
    change 1, noticed after 50,119 verdicts: rewards of sale fell
    >>> change.verdicts
    50119
    """

    number: int
    """1 for the first one."""
    verdicts: int
    """How many verdicts, and rows of logs, had been learned when it was noticed."""
    label: Hashable
    """Whose rewards fell; None where the model looks at all labels together."""

    def __str__(self) -> str:
        whose = "" if self.label is None else f" of {visible(self.label)}"
        return f"change {self.number:,}, noticed after {self.verdicts:,} verdicts: rewards{whose} fell"


class Watch(NamedTuple):
    """What is known of changes besides how many were noticed. It is saved."""

    beliefs: Array  # [labels, PER_LABEL], or one line for all
    noted: Array  # [MOST_NOTED, 2], change number i (from 0) at i mod MOST_NOTED: when, on whose rewards


def new_watch(n_lines: int) -> Watch:
    """Nothing was heard yet."""
    return Watch(np.zeros((n_lines, PER_LABEL)), np.zeros((MOST_NOTED, 2)))


def with_line(watch: Watch) -> Watch:
    """For one label more."""
    return watch._replace(beliefs=np.concatenate([watch.beliefs, np.zeros((1, PER_LABEL))]))


def latest(watch: Watch, n_changes: int, labels: Sequence[Hashable]) -> tuple[Change, ...]:
    """The last changes, the oldest first."""
    found = []
    for number in range(max(0, n_changes - MOST_NOTED), n_changes):
        verdicts, label = watch.noted[number % MOST_NOTED].tolist()
        found.append(Change(number + 1, int(verdicts), None if label == NOBODY else labels[int(label)]))
    return tuple(found)


# Files


def watch_arrays(watch: Watch, n_changes: int) -> dict[str, Array]:
    """What a file keeps."""
    order = [number % MOST_NOTED for number in range(max(0, n_changes - MOST_NOTED), n_changes)]
    return {
        "beliefs": watch.beliefs,
        "changes": watch.noted[order].astype(np.int64),
        "n_changes": np.array([n_changes]),
    }


def stored_watch(arrays: dict[str, Array], fresh: Watch, n_labels: int, verdicts: int) -> tuple[Watch, int]:
    """Go on from stored arrays, after a look at each; files from before there were such have none."""
    if "beliefs" not in arrays:
        return fresh, 0
    beliefs = _stored_beliefs(arrays, len(fresh.beliefs))
    changes = take_array(arrays, "changes", np.int64, (None, 2))
    n_changes = int(take_array(arrays, "n_changes", np.int64, (1,))[0])
    demand(0 <= n_changes <= verdicts, "there are more changes than verdicts")
    demand(len(changes) == min(n_changes, MOST_NOTED), "the changes noted are not the last ones")
    when, whose = changes.T
    in_order = bool(np.all(np.diff(when) > 0)) and bool(np.all((when > 0) & (when <= verdicts)))
    demand(in_order, "the changes are not in order")
    lines = len(fresh.beliefs)
    least = 0 if lines == n_labels and lines > 1 else int(NOBODY)
    demand((whose >= least) & (whose < n_labels), "a change was noticed on a label that there is not")
    _check_beliefs(beliefs, verdicts - (int(when[-1]) if n_changes else 0))
    order = [number % MOST_NOTED for number in range(max(0, n_changes - MOST_NOTED), n_changes)]
    fresh.noted[order] = changes
    return Watch(beliefs, fresh.noted), n_changes


def _stored_beliefs(arrays: dict[str, Array], lines: int) -> Array:
    """Files from before labels were learned anew do not tell which are: none of them."""
    stored = take_array(arrays, "beliefs", np.float64, (lines, None))
    if stored.shape[1] == ANEW:
        stored = np.concatenate([stored, np.zeros((lines, 1))], axis=1)
    return take_array({"beliefs": stored}, "beliefs", np.float64, (lines, PER_LABEL))


def _check_beliefs(beliefs: Array, verdicts: int) -> None:
    """Of so many verdicts since the last change."""
    heard, falls, tried, rise = (
        beliefs[:, HEARD],
        beliefs[:, FALLS:TRIED],
        beliefs[:, TRIED],
        beliefs[:, RISE],
    )
    whole = (heard == np.floor(heard)) & (tried == np.floor(tried)) & (tried >= 0.0) & (tried <= heard)
    demand(bool(np.all(whole)) and heard.sum() <= verdicts, "more rewards count in the test than were heard")
    demand(np.abs(beliefs[:, [EXCESS, TRIED_EXCESS]]) <= 1.0, "an average of the test is out of range")
    demand((falls >= 0.0) & (falls <= THRESHOLD), "a sum of the test is out of range")
    demand((rise >= 0.0) & (rise <= LEAST_RISE), "a sum of the test is out of range")
    test, anew = beliefs[:, :ANEW], beliefs[:, ANEW]
    demand((heard[:, None] > 0.0) | (test == 0.0), "a label that was not shown counts in the test")
    demand((tried[:, None] > 0.0) | (test[:, TRIED:] == 0.0), "a label that was not tried counts as tried")
    demand((anew == 0.0) | (anew == 1.0), "a label is neither learned anew nor not")
