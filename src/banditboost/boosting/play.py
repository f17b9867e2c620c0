"""A whole stream in one compiled loop, by the same kernels as `decide` and `learn`, and with the same results to the last bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from banditboost.boosting.adaptive import choose_adaptive, teach_adaptive
from banditboost.boosting.binary import choose_binary, teach_binary
from banditboost.boosting.costs import Ballot, list_active, open_ballot
from banditboost.boosting.experts import slot_of
from banditboost.boosting.gap import choose_gap, teach_gap
from banditboost.boosting.optimal import choose_optimal, teach_optimal
from banditboost.boosting.potential import PotentialTable
from banditboost.kernels.compile import allocating, inlined, long_running
from banditboost.kernels.forest import learn_forest, score_forest, vote_forest
from banditboost.kernels.layout import GREEDY, ROUND, SHOWN, VOTES, Array, Forest
from banditboost.kernels.linear import Chains
from banditboost.kernels.normal import tanh_half
from banditboost.kernels.rng import round_key
from banditboost.kernels.tally import note_verdict

PLAYED, NO_ROOM, NO_GROUP = 0, 1, 2
# The cursor: where to go on. NEXT_TREE is -1 until the verdict's lesson is ready.
NEXT_ROUND, NEXT_VERDICT, NEXT_TREE = 0, 1, 2


class State(NamedTuple):
    """What every booster keeps."""

    settings: Array
    weights: Array  # [1, 2N] alphas and ln v; for BinBandit [groups, N] log alphas; for GapBoost [1, 4 + N] losses
    tally: Array
    labels: Array  # the lesson
    importance: Array


class Groups(NamedTuple):
    """What BinBandit keeps besides: which labels have learners."""

    shown_labels: Array
    numbers: Array
    scores: Array


class Stream(NamedTuple):
    """Rows and right labels, when each verdict comes, and what is written down."""

    X: Array  # rows from round `start` on
    y: Array
    order: Array
    due: Array
    slot: Array
    memos: Array
    shown: Array
    greedy: Array
    edges: Array  # [2, N]: sums of c^i_h and of c^i_y


# A booster is optimal if it has a table, binary if it has groups, GapBoost if it has chains, else adaptive. Numba drops the branches of an
# argument that is None, so that each kind of booster compiles its own steps only.


@inlined
def choose_label(
    forest: Forest, state: State, table: PotentialTable | None, groups: Groups | None, chains: Chains | None, memo: Array
) -> None:
    """Lines 5 to 10."""
    n = state.settings[0]["n_learners"]
    x = memo[state.settings[0]["row_start"] :]
    if chains is not None:
        choose_gap(forest, chains, state.settings, state.weights[0], memo, chains.groups[:0])
    elif groups is not None:
        score_forest(forest, x, groups.scores)
        choose_binary(state.settings, groups.shown_labels, groups.numbers, state.weights, groups.scores, memo)
    else:
        vote_forest(forest, x, round_key(state.settings[0]["seed"], int(memo[ROUND])), memo[VOTES : VOTES + n])
        if table is not None:
            choose_optimal(state.settings, memo)
        else:
            choose_adaptive(state.settings, state.weights[0], memo)


@inlined
def first_tree(state: State, groups: Groups | None, chains: Chains | None, memo: Array) -> int:
    """Of the committee's learners that this verdict teaches; -1 if a booster with groups has yet to make them."""
    n = state.settings[0]["n_learners"]
    if chains is not None:
        return max(-1, chains.groups[int(memo[SHOWN])] * n)
    if groups is not None:
        slot = slot_of(groups.shown_labels, groups.shown_labels.size, int(memo[SHOWN]))
        return -1 if slot == groups.shown_labels.size else groups.numbers[slot] * n
    return 0


@inlined
def teach(
    forest: Forest,
    state: State,
    table: PotentialTable | None,
    groups: Groups | None,
    chains: Chains | None,
    memo: Array,
    outcome: int,
    first: int,
) -> None:
    """Lines 12 to 15 and 17."""
    group = first // state.settings[0]["n_learners"]
    if chains is not None:
        x = memo[state.settings[0]["row_start"] :]
        teach_gap(forest, chains, state.settings, state.weights[0], x, outcome, group, state.labels, state.importance)
    elif groups is not None:
        teach_binary(state.settings, state.weights[group], memo, outcome, state.labels, state.importance)
    elif table is not None:
        teach_optimal(state.settings, table, memo, outcome, state.labels, state.importance)
    else:
        teach_adaptive(state.settings, state.weights[0], memo, outcome, state.labels, state.importance)


@inlined
def add_true_costs(settings: Array, memo: Array, ballot: Ballot, sums: Array, lead: Array, edges: Array) -> None:
    """Equation (10) for the right label alone: lead[r] = tanh((s_y - s_r) / 2), from which both costs follow."""
    n, n_labels, right, n_active = settings[0]["n_learners"], settings[0]["n_labels"], ballot.first, ballot.n_active
    total = 0.0
    for i in range(n):
        mine = slot_of(ballot.active, n_active, int(memo[VOTES + i]))
        least = -0.5 * ((n_labels - 1) - total)
        edges[0, i] += least if mine == right else 0.5 - 0.5 * lead[mine]
        edges[1, i] += least
        sums[mine] += memo[VOTES + n + i]
        if mine == right:
            for slot in range(lead.size):
                lead[slot] = tanh_half(sums[right] - sums[slot])
            total = (n_labels - n_active) * lead[n_active]
            for slot in range(n_active):
                total += lead[slot]
        else:
            total -= lead[mine]
            lead[mine] = tanh_half(sums[right] - sums[mine])
            total += lead[mine]


@inlined
def count_true_costs(settings: Array, memo: Array, right: int, edges: Array, numbers: Array) -> None:
    n = settings[0]["n_learners"]
    active = numbers[: n + 2].view(np.int64)
    ballot = open_ballot(active, list_active(memo[VOTES : VOTES + n], right, -1, active), right, -1)
    size = (ballot.n_active + 4) // 4 * 4  # a multiple of four for the vectorised loop
    add_true_costs(settings, memo, ballot, numbers[n + 2 : n + 2 + size], numbers[n + 2 + size : n + 2 + 2 * size], edges)


@allocating
def note_edges(settings: Array, memo: Array, right: int, edges: Array) -> None:
    """Add the true costs c^i_{h^i} and c^i_y of one round, from which the empirical edges follow. Only a simulation can know them."""
    n = settings[0]["n_learners"]
    count_true_costs(settings, memo, right, edges, np.zeros(n + 2 + 2 * (n + 6)))


@inlined
def learn_due(
    forest: Forest,
    state: State,
    table: PotentialTable | None,
    groups: Groups | None,
    chains: Chains | None,
    stream: Stream,
    cursor: Array,
) -> int:
    """Learn all verdicts that have come by now."""
    while cursor[NEXT_VERDICT] < stream.order.size and stream.due[cursor[NEXT_VERDICT]] < cursor[NEXT_ROUND]:
        t = stream.order[cursor[NEXT_VERDICT]]
        memo = stream.memos[stream.slot[t]]
        first = first_tree(state, groups, chains, memo)
        if first < 0:
            return NO_GROUP
        if cursor[NEXT_TREE] < 0:
            right = stream.y[t]
            outcome = right if state.settings[0]["full_information"] != 0 else (1 if memo[SHOWN] == right else 0)
            teach(forest, state, table, groups, chains, memo, outcome, first)
            note_verdict(state.settings, state.tally, memo, outcome)
            cursor[NEXT_TREE] = 0
        n = state.settings[0]["n_learners"]
        x = memo[state.settings[0]["row_start"] :]
        cursor[NEXT_TREE] = learn_forest(forest, first, x, state.labels, state.importance, cursor[NEXT_TREE])
        if cursor[NEXT_TREE] < n:
            return NO_ROOM
        cursor[NEXT_TREE] = -1
        cursor[NEXT_VERDICT] += 1
    return PLAYED


@long_running
def play_rounds(
    forest: Forest,
    state: State,
    table: PotentialTable | None,
    groups: Groups | None,
    chains: Chains | None,
    stream: Stream,
    cursor: Array,
    span: Array,
) -> int:
    """Play rounds up to a stop, or until Python has to make room; the cursor says where to go on.

    span is: the round with which stream.X begins, the round to stop before, and the model's number of the stream's first round.
    """
    start, stop, first_round = span[0], span[1], span[2]
    row_start = state.settings[0]["row_start"]
    while True:
        status = learn_due(forest, state, table, groups, chains, stream, cursor)
        t = cursor[NEXT_ROUND]
        if status != PLAYED or t == stop:
            return status
        memo = stream.memos[stream.slot[t]]
        memo[ROUND] = first_round + t
        for f in range(stream.X.shape[1]):
            memo[row_start + f] = stream.X[t - start, f]
        choose_label(forest, state, table, groups, chains, memo)
        stream.shown[t] = int(memo[SHOWN])
        stream.greedy[t] = int(memo[GREEDY])
        if table is None and groups is None and chains is None:
            note_edges(state.settings, memo, stream.y[t], stream.edges)
        cursor[NEXT_ROUND] = t + 1
