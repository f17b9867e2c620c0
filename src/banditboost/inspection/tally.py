"""How a model has done so far: for each label how often it was shown and what it earned, what exploring cost,
and the latest rewards.

Rewards are shares of the model's range, in [0, 1]: 1 for a right label, 0 for a wrong one. One array of
numbers:

    HEARD to REWARD_SQUARES             sums over all rewards
    3 x WINDOW numbers from RECENT on   reward number i (from 0) at i mod WINDOW: who was shown, with what
                                        probability, and what it earned
    5 x k numbers from BY_LABEL on      of each label: rewards heard when it was shown, their sum, and that
                                        of their squares; rows of logs in which it was shown, and the sum of
                                        their rewards
"""

from __future__ import annotations

from typing import Any

import numpy as np

from banditboost.compiled.compile import inlined, kernel
from banditboost.io.container import take_array
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import demand
from banditboost.memo import GREEDY, LEAST_PROBABILITY, PROBABILITY, SHOWN
from banditboost.types import Array, Record

WINDOW = 1000
HEARD, EXPLORED = 0, 1  # rewards; those of another label than the greedy one
# Of rewards r of greedy labels, which came with probability p: sums of 1 / p, r / p, 1 / p^2 and r^2 / p.
INVERSE, REWARD_INVERSE, SQUARES, REWARD_SQUARES = 2, 3, 4, 5
RECENT = 6
PER_RECENT, PER_LABEL = 3, 5
LOGGED = 3  # of the numbers of a label, the first that is of logs
BY_LABEL = RECENT + PER_RECENT * WINDOW
_ROUNDING = 1e-6  # sums of many numbers may be off by this share
_BEFORE = 2  # columns of `by_label` and `recent` in files from before graded rewards


@kernel
def note_verdict(settings: Record, tally: Array, memo: Array, told: float) -> None:
    """Count what was just learned: a reward in [0, 1], or with full information the right label."""
    shown = int(memo[SHOWN])
    reward = told
    if settings.full_information != 0:
        reward = 1.0 if told == shown else 0.0
    note_reward(tally, shown, shown != int(memo[GREEDY]), memo[PROBABILITY], reward)


@inlined
def note_reward(tally: Array, shown: int, explored: bool, probability: float, reward: float) -> None:
    """Count a reward of a label, which was shown with this probability."""
    if explored:
        tally[EXPLORED] += 1.0
    else:
        tally[INVERSE] += 1.0 / probability
        tally[REWARD_INVERSE] += reward / probability
        tally[SQUARES] += 1.0 / (probability * probability)
        tally[REWARD_SQUARES] += reward * reward / probability
    at = RECENT + PER_RECENT * (int(tally[HEARD]) % WINDOW)
    tally[at] = 2 * shown + (1 if explored else 0)
    tally[at + 1] = probability
    tally[at + 2] = reward
    tally[HEARD] += 1.0
    at = BY_LABEL + PER_LABEL * shown
    tally[at] += 1.0
    tally[at + 1] += reward
    tally[at + 2] += reward * reward


@kernel
def note_logged(counts: Record, tally: Array, memo: Array, reward: float) -> None:
    """Count a row of a log that was just learned."""
    counts.logged += 1
    at = BY_LABEL + PER_LABEL * int(memo[SHOWN]) + LOGGED
    tally[at] += 1.0
    tally[at + 1] += reward


@inlined
def times_learned(tally: Array, label: int) -> float:
    """How often a label was learned about, of the model's own decisions and of logs."""
    at = BY_LABEL + PER_LABEL * label
    times: float = tally[at] + tally[at + LOGGED]
    return times


def empty_tally(n_labels: int) -> Array:
    return np.zeros(BY_LABEL + PER_LABEL * n_labels)


def recent_of(tally: Array) -> Array:
    """The latest rewards, a row for each."""
    return tally[RECENT:BY_LABEL].reshape(WINDOW, PER_RECENT)[: int(tally[HEARD])]


def by_label_of(tally: Array) -> Array:
    """A row for each label: what was heard of it."""
    return tally[BY_LABEL:].reshape(-1, PER_LABEL)[:, :LOGGED]


def logged_of(tally: Array) -> Array:
    """A row for each label: what logs told of it."""
    return tally[BY_LABEL:].reshape(-1, PER_LABEL)[:, LOGGED:]


def arrays_of(tally: Array) -> dict[str, Array]:
    """What a file keeps of it: of the window only what is in use."""
    return {
        "tally": tally[:RECENT].copy(),
        "by_label": by_label_of(tally).copy(),
        "recent": recent_of(tally).copy(),
        **({"logged": logged_of(tally).copy()} if logged_of(tally).any() else {}),
    }


def stored_tally(arrays: dict[str, Array], n_labels: int, verdicts: int, n_logged: int) -> Array:
    """The tally in `arrays`, if it could be that of a model after so many verdicts (fewer are counted if a
    weak learner failed at some) and rows of logs.
    """
    sums, by_label, recent = _as_today(
        take_array(arrays, "tally", np.float64, (None,)),
        take_array(arrays, "by_label", np.float64, (n_labels, None)),
        take_array(arrays, "recent", np.float64, (None, None)),
    )
    heard = float(by_label[:, 0].sum())
    _check_labels(by_label)
    _demand(heard == sums[HEARD] <= verdicts and _are_counts(sums[:INVERSE]) and sums[EXPLORED] <= heard)
    _check_sums(sums)
    _demand(len(recent) == min(int(heard), WINDOW))
    _check_recent(recent, sums, by_label)
    empty = np.zeros(PER_RECENT * (WINDOW - len(recent)))
    labels = np.hstack([by_label, _stored_logged(arrays, n_labels, n_logged)])
    return np.concatenate([sums, recent.ravel(), empty, labels.ravel()])


def _stored_logged(arrays: dict[str, Array], n_labels: int, n_logged: int) -> Array:
    """What logs told of each label; only files of models that have learned from logs tell it."""
    if "logged" not in arrays:
        _demand(n_logged == 0)
        return np.zeros((n_labels, PER_LABEL - LOGGED))
    logged = take_array(arrays, "logged", np.float64, (n_labels, PER_LABEL - LOGGED))
    learned, total = logged.T
    _demand(_are_counts(learned) and learned.sum() == n_logged)
    _demand(np.all((total >= 0.0) & (total <= learned)))
    return logged


def _as_today(sums: Array, by_label: Array, recent: Array) -> tuple[Array, Array, Array]:
    """Files from before graded rewards have verdicts: their squares are themselves."""
    before = len(sums) == RECENT - 1
    columns = _BEFORE if before else LOGGED
    _demand(len(sums) in (RECENT - 1, RECENT) and by_label.shape[1] == recent.shape[1] == columns)
    if before:
        codes = recent[:, 0]
        _demand(_are_counts(codes))
        sums = np.append(sums, sums[REWARD_INVERSE])
        by_label = np.column_stack([by_label, by_label[:, 1]])
        recent = np.column_stack([codes // 2, recent[:, 1], codes % 2])
    return sums, by_label, recent


def _check_labels(by_label: Array) -> None:
    """Of n rewards in [0, 1]: squares <= total <= n, and total^2 <= n squares."""
    heard, total, squares = by_label.T
    _demand(_are_counts(heard) and np.all((total >= 0.0) & (total <= heard) & (squares >= 0.0)))
    _demand(np.all(squares <= total * (1.0 + _ROUNDING)))
    _demand(np.all(total * total <= heard * squares * (1.0 + _ROUNDING) + _ROUNDING))


def _check_sums(sums: Array) -> None:
    """Each reward of a greedy label adds 1 / p >= 1, and the square of it."""
    greedy, inverse, squares = sums[HEARD] - sums[EXPLORED], sums[INVERSE], sums[SQUARES]
    _demand(greedy <= inverse <= greedy / LEAST_PROBABILITY and 0.0 <= sums[REWARD_INVERSE] <= inverse)
    _demand(inverse <= squares <= inverse * inverse * (1.0 + _ROUNDING))
    _demand(0.0 <= sums[REWARD_SQUARES] <= sums[REWARD_INVERSE] * (1.0 + _ROUNDING))


def _check_recent(recent: Array, sums: Array, by_label: Array) -> None:
    """The latest rewards are among all."""
    codes, probability, reward = recent.T
    _demand(_are_counts(codes) and np.all(codes < 2 * len(by_label)))
    _demand(np.all((probability >= LEAST_PROBABILITY) & (probability <= 1.0)))
    _demand(np.all((reward >= 0.0) & (reward <= 1.0)))
    shown = codes.astype(np.int64) // 2
    _demand(np.all(np.bincount(shown, minlength=len(by_label)) <= by_label[:, 0]))
    earned = np.bincount(shown, reward, len(by_label))
    _demand(np.all(earned <= by_label[:, 1] * (1.0 + _ROUNDING) + _ROUNDING))
    _demand(np.sum(codes % 2) <= sums[EXPLORED])


def _are_counts(numbers: Array) -> Any:
    return np.all((numbers >= 0.0) & (numbers == np.floor(numbers)) & (numbers <= 2 * MOST_ROUNDS))


def _demand(good: Any) -> None:
    demand(good, "the tally of verdicts is not possible")
