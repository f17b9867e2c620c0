"""The potential of OptBandit and OptFull, exactly: the chance that label y loses the final vote when each
vote still to come is drawn from u^y_gamma (a vote for y with probability p = gamma + (1 - gamma)/k, else for
any other label alike; ties for the lead are shared).

    phi^y_0(s) = 1 - [y leads] / (number of leaders),      phi^y_{n+1}(s) = E_{l ~ u^y_gamma} phi^y_n(s + e_l)

How. Of n votes y gets m with a binomial probability, and then has S = s_y + m. The other d = n - m fall
uniformly on k - 1 labels; that y wins means that no label gets beyond S, and that y wins the tie with the T
labels at S, which has probability 1/(1+T) = int_0^1 z^T dz. Let the number of votes of each other label be
Poisson instead, independently, with mean R/(k-1). Then the chance is a product with one factor for each
label, and given that the votes are d in all, it is the chance we want. So it is the coefficient at w^d of

    product over labels of  e^(-R/(k-1)) [ sum_{v < a} x^v / v!  +  z x^a / a! ],

    x = w R/(k-1),     a = S - (votes of that label)

divided by the Poisson probability of d. The coefficient is a mean over points on the circle |w| = 1, where a
product over labels is a sum of logarithms, tabulated once; labels with equal counts share one, so k does not
matter. In z it is a polynomial of degree below N/S, which Gauss-Legendre with enough nodes integrates
exactly. With R close to d rounding grows by about sqrt(2 pi d) only: errors stay near 1e-14.

A state is a histogram of vote counts (`vote_states`); what was computed for one is kept in a table of bounded
size. Values do not depend on what the table holds, so emptying it when it is full changes no result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from banditboost.boosting.vote_states import (
    EMPTY,
    MOST_VOTES,
    IntArray,
    count_class,
    count_partitions,
    find_slot,
    state_key,
)
from banditboost.compiled.compile import allocating, kernel
from banditboost.errors import ParameterError

FloatArray = npt.NDArray[np.float64]

MOST_SLOTS = 2**17
_LEAST_CHANCE = 1e-25  # of a number of votes for y; less is taken for never
_LEAST_LOG = -46.0  # a point on the circle below e^-46 = 1e-20 adds nothing
_BATCH = 256  # random ends at a time, which for 10,000 labels take 20 MB
_MANY = 10**9  # votes that fit every integer type on the way

_SURE, _CHANCE, _NODE = 0, 1, 2  # the layers of `weights`
_SCALARS, _NODES, _FIRST, _STRIDE, _LEVEL = 0, 1, 2, 3, 4  # the rows of `plan`
_LABELS, _USED, _FAIR = 0, 1, 2  # the scalars


class PotentialTable(NamedTuple):
    """What `make_table` prepares, and the states met so far.

    Few arrays, since each costs 0.2 us on the way into a compiled function.
    """

    keys: IntArray  # [slot]: number of the state, or EMPTY
    # [slot, c]: phi of a label of the c-th smallest count of that state; last column: the sum over all labels
    values: FloatArray
    partitions: IntArray  # see `count_partitions`
    # [_SURE, n, m]: P(at least m of n votes for y); [_CHANCE, n, m]: see `_weights`; [_NODE, S, i]: Gauss
    # weights
    weights: FloatArray
    # [level - 1, row, 0 or 1, point]: log of a label's factor, real and imaginary; row = first + node *
    # stride + a
    factors: FloatArray
    plan: IntArray  # [_SCALARS]: k, slots used, 1 if gamma = 0; by S: nodes, first row, stride; by d: level


# The circle of level j has radius R = j^2 and serves all d with sqrt(d) nearest to j; 10 (j + 1) points are
# enough to keep the coefficient at d apart from those at d +- 10 (j + 1), which have less than 1e-16 of its
# weight. By symmetry only half of the points are needed.


def _level(n_votes: int) -> int:
    return max(1, round(math.sqrt(n_votes)))


def _half_circle(level: int) -> int:
    return 5 * (level + 1)


@kernel
def state_potentials(
    table: PotentialTable, n_left: int, counts: IntArray, labels: IntArray, out: FloatArray
) -> None:
    """`out[c]` is phi^y_n for each label y of class c: `labels[c]` labels (k in all) have `counts[c]` votes,
    in ascending order.

    What is certain is 0 or 1 without rounding, so that costs which are equal stay equal. (`labels` is as
    before when the call returns.)
    """
    last = counts.size - 1
    half = (table.partitions.shape[0] - 1) // 2
    for c in range(last + 1):
        labels[c] -= 1  # those that y competes with
        rival = counts[last] if labels[last] > 0 else counts[last - 1]
        if counts[c] > rival + n_left:
            out[c] = 0.0
        elif counts[c] + n_left < rival:
            out[c] = 1.0
        elif n_left == 0:
            out[c] = 1.0 - 1.0 / (1 + labels[last])
        else:
            # Beyond half of all N votes nobody else can reach S.
            sure = max(0, half + 1 - counts[c])
            win = table.weights[_SURE, n_left, sure] if sure <= n_left else 0.0
            for total in range(max(1, counts[last]), min(half, counts[c] + n_left) + 1):
                win += _chance_to_win(table, n_left, total, total - counts[c], counts, labels)
            out[c] = min(1.0, max(0.0, 1.0 - win))
        labels[c] += 1


@kernel
def _chance_to_win(
    table: PotentialTable, n_left: int, total: int, gained: int, counts: IntArray, others: IntArray
) -> float:
    """P(y gets `gained` of the votes left and wins with `total`); `others` is how many other labels have each
    of `counts`.
    """
    chance: float = table.weights[_CHANCE, n_left, gained]
    if chance == 0.0:
        return 0.0
    n_others = n_left - gained
    level = table.plan[_LEVEL, n_others]
    stride = table.plan[_STRIDE, total]
    points = 5 * (level + 1)
    angle = math.pi / (2 * points)
    win = 0.0
    for node in range(table.plan[_NODES, total]):
        factors = table.factors[level - 1, table.plan[_FIRST, total] + node * stride :]
        mean = 0.0
        for point in range(points):
            real = 0.0
            imaginary = -n_others * (2 * point + 1) * angle
            for c in range(counts.size):
                real += others[c] * factors[total - counts[c], 0, point]
                imaginary += others[c] * factors[total - counts[c], 1, point]
            if real > _LEAST_LOG:
                mean += math.exp(real) * math.cos(imaginary)
        win += table.weights[_NODE, total, node] * mean
    return chance * win


@kernel
def find_state(table: PotentialTable, histogram: IntArray, n_votes: int) -> int:
    """The slot of this state, computed now if it is not there.

    `histogram[c]` labels have c votes, `n_votes` in all; its size is N + 2.

    A slot is good until the next call.
    """
    key = state_key(table.partitions, histogram, n_votes)
    slot = find_slot(table.keys, key)
    if table.keys[slot] != key:
        slot = _insert(table, histogram, n_votes, key, slot)
    return slot


@allocating
def _insert(table: PotentialTable, histogram: IntArray, n_votes: int, key: int, slot: int) -> int:
    scalars = table.plan[_SCALARS]
    if 2 * scalars[_USED] >= table.keys.size:
        for place in range(table.keys.size):
            table.keys[place] = EMPTY
        scalars[_USED] = 0
        slot = find_slot(table.keys, key)
    last = table.values.shape[1] - 1
    counts = np.empty(last, dtype=np.int64)
    labels = np.empty(last, dtype=np.int64)
    n_classes = 0
    for count in range(n_votes + 1):
        if histogram[count] > 0:
            counts[n_classes] = count
            labels[n_classes] = histogram[count]
            n_classes += 1
    n_left = table.partitions.shape[0] - 1 - n_votes
    row = table.values[slot]
    state_potentials(table, n_left, counts[:n_classes], labels[:n_classes], row)
    # Without votes left, or without an edge, the chances to win sum to one whatever the state: say so without
    # rounding.
    row[last] = scalars[_LABELS] - 1.0
    if n_left > 0 and scalars[_FAIR] == 0:
        row[last] = 0.0
        for c in range(n_classes):
            row[last] += labels[c] * row[c]
    table.keys[slot] = key
    scalars[_USED] += 1
    return slot


@kernel
def vote_costs(
    table: PotentialTable,
    histogram: IntArray,
    n_votes: int,
    first: int,
    second: int,
    mix: FloatArray,
    out: FloatArray,
) -> tuple[float, float]:
    """The cost of each vote that learner i could cast: eq.

    (5) with the matrix of eq. (9), C[l, r] = phi^r_{N-i}(s + e_l).

    `histogram` is s, the n_votes = i - 1 votes before (N + 2 places; it is as before when the call returns).
    The estimate singles out at most two labels, which have `first` and `second` votes in s (`second` = -1 if
    there is only one): the cost of voting for l is mix[0] * sum_r C[l, r] + mix[1] * C[l, first label] +
    mix[2] * C[l, second label]. `out[c]` is that cost for every other label l with c votes, where there is
    one. Returned is the cost for the two labels themselves.
    """
    # One call serves all candidates of a learner because entering a function that may fill the table costs as
    # much as several look-ups: Numba then counts references to each array.
    sums = table.values.shape[1] - 1
    first_cost = second_cost = 0.0
    rest = n_votes
    count = 0
    while count == 0 or rest > 0:
        labels = histogram[count]
        if labels > 0:
            histogram[count] -= 1
            histogram[count + 1] += 1
            key = state_key(table.partitions, histogram, n_votes + 1)
            slot = find_slot(table.keys, key)
            if table.keys[slot] != key:
                slot = _insert(table, histogram, n_votes + 1, key, slot)
            base = mix[0] * table.values[slot, sums]
            plain = labels
            if count == first:
                plain -= 1
                first_cost = base + mix[1] * table.values[slot, count_class(histogram, first + 1)]
                if second >= 0:
                    first_cost += mix[2] * table.values[slot, count_class(histogram, second)]
            if count == second:
                plain -= 1
                second_cost = base + mix[1] * table.values[slot, count_class(histogram, first)]
                second_cost += mix[2] * table.values[slot, count_class(histogram, second + 1)]
            if plain > 0:
                out[count] = base + mix[1] * table.values[slot, count_class(histogram, first)]
                if second >= 0:
                    out[count] += mix[2] * table.values[slot, count_class(histogram, second)]
            histogram[count + 1] -= 1
            histogram[count] += 1
            rest -= count * labels
        count += 1
    return first_cost, second_cost


def make_table(n_learners: int, n_labels: int, edge: float, slots: int | None = None) -> PotentialTable:
    """A table for N = `n_learners` votes among k = `n_labels` labels.

    It holds no more than `slots` / 2 states at a time.

    By default there is room for all states if N is at most 33, and never for more than 65,536.

    >>> table = make_table(20, 26, 0.1)
    >>> table.keys.size, table.values.shape[1]
    (8192, 7)
    """
    n_learners = _whole("n_learners", n_learners, 1, MOST_VOTES)
    n_labels = _whole("n_labels", n_labels, 2, None)
    edge = _edge(edge)
    partitions = count_partitions(n_learners)
    if slots is None:
        n_states = int(partitions[-1, 0] + partitions[-1, 1])
        slots = min(MOST_SLOTS, 2 * n_states)
    slots = 2 ** (_whole("slots", slots, 2, None) - 1).bit_length()
    n_classes = min(
        n_labels, (1 + math.isqrt(1 + 8 * n_learners)) // 2
    )  # 0 + 1 + ... + (n_classes - 1) votes at least
    plan, factors, node_weights = _circles(n_learners, n_labels)
    plan[_SCALARS, :3] = n_labels, 0, edge == 0.0
    weights = np.stack((*_weights(n_learners, edge + (1.0 - edge) / n_labels), node_weights))
    values = np.empty((slots, n_classes + 1))
    return PotentialTable(np.full(slots, EMPTY, dtype=np.int64), values, partitions, weights, factors, plan)


def _weights(n_learners: int, chance: float) -> tuple[FloatArray, FloatArray]:
    """By n and m: P(y gets at least m of n votes); and P(m of n) divided by the points of the circle and the
    Poisson probability of d.
    """
    binomial = np.zeros((n_learners + 1, n_learners + 1))
    binomial[0, 0] = 1.0
    for n in range(n_learners):
        binomial[n + 1] = (1.0 - chance) * binomial[n]
        binomial[n + 1, 1:] += chance * binomial[n, :-1]
    sure = np.cumsum(binomial[:, ::-1], axis=1)[:, ::-1].copy()
    sure[:, 0] = 1.0
    for d in range(n_learners + 1):
        level = _level(d)
        poisson = math.exp(-(level**2))
        for vote in range(1, d + 1):
            poisson *= level**2 / vote
        gained = np.arange(n_learners + 1 - d)
        binomial[gained + d, gained] /= _half_circle(level) * poisson
    binomial[binomial < _LEAST_CHANCE] = 0.0
    return sure, binomial


def _circles(n_learners: int, n_labels: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """The plan, the logarithms of the factors, and the Gauss weights.

    Totals that need equally many nodes share their rows.
    """
    plan = np.zeros((5, n_learners + 2), dtype=np.int64)
    plan[_LEVEL, :-1] = [_level(d) for d in range(n_learners + 1)]
    node_weights = np.zeros((n_learners + 1, n_learners + 1))
    blocks: list[tuple[FloatArray, int]] = []
    first = end = n_nodes = stride = 0
    for total in range(n_learners // 2, 0, -1):
        tied = min(
            n_labels, n_learners // total
        )  # so many labels, y among them, can have this total; the degree in z is one less
        if n_nodes != (tied + 1) // 2:
            n_nodes, stride, first = (tied + 1) // 2, total + 1, end
            end += n_nodes * stride
            nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
            blocks.append(((1.0 + nodes) / 2.0, stride))
        plan[_NODES : _STRIDE + 1, total] = n_nodes, first, stride
        node_weights[total, :n_nodes] = weights / 2.0
    levels = _level(n_learners)
    factors = np.zeros((levels, end, 2, _half_circle(levels)))
    for level in range(1, levels + 1):
        rows = [_log_factors(level, n_labels, z, stride) for nodes, stride in blocks for z in nodes]
        if rows:
            factors[level - 1, :, :, : _half_circle(level)] = np.concatenate(rows)
    return plan, factors, node_weights


def _log_factors(level: int, n_labels: int, z: float, stride: int) -> FloatArray:
    """`[a, 0 or 1, point]`: log of e^-mean (sum_{v < a} x^v / v! + z x^a / a!) at the points x of the circle,
    for a = 0 ... stride - 1.
    """
    points = _half_circle(level)
    mean = level**2 / (n_labels - 1)
    x = mean * np.exp(1j * (2 * np.arange(points) + 1) * (math.pi / (2 * points)))
    terms = np.ones((stride, points), dtype=np.complex128)
    terms[1:] = np.cumprod(x / np.arange(1, stride)[:, None], axis=0)
    below = np.full((stride, points), -1.0, dtype=np.complex128)
    below[1:] = np.cumsum(terms[:-1], axis=0) - 1.0
    below[2:] = np.cumsum(terms[1:-1], axis=0)
    # The factor is 1 + rest. With many labels rest is tiny and its power is in the thousands: then 1 + rest
    # would lose what matters.
    rest = below + z * terms
    size = np.maximum(np.abs(1.0 + rest), 1e-300)
    small = np.where(np.abs(rest) < 0.5, rest, 0.0)
    logs = np.empty((stride, 2, points))
    logs[:, 0] = (
        np.where(small == 0.0, np.log(size), 0.5 * np.log1p(2.0 * small.real + np.abs(small) ** 2)) - mean
    )
    logs[:, 1] = np.arctan2(rest.imag, 1.0 + rest.real)
    return logs


def potential(votes: Sequence[int], label: int, remaining: int, edge: float) -> float:
    """phi^y_n(s), exactly: the chance that `label` loses when the labels have `votes` so far and `remaining`
    votes come.

    >>> potential([0, 0, 0], label=1, remaining=0, edge=0.1)  # a tie is shared
    0.6666666666666667
    >>> round(potential([3, 1, 0, 0], label=0, remaining=10, edge=0.1), 12)
    0.165515806708
    """
    counts, label, remaining, edge = _checked(votes, label, remaining, edge)
    if remaining == 0:
        leaders = int(np.sum(counts == counts.max()))
        return 1.0 - 1.0 / leaders if counts[label] == counts.max() else 1.0
    # Only distances count, and of a label that can no longer reach the lead not even those.
    counts -= max(counts.min(), counts.max() - remaining - 1)
    counts = np.maximum(counts, 0)
    n_votes = int(counts.sum())
    if n_votes + remaining > MOST_VOTES:
        raise ParameterError(
            f"votes and remaining={remaining!r} make {n_votes + remaining} votes that matter; at most "
            f"{MOST_VOTES} are supported: "
            "use potential_monte_carlo"
        )
    table = _study_table(n_votes + remaining, counts.size, edge)
    histogram = np.bincount(counts, minlength=n_votes + remaining + 2)
    slot = find_state(table, histogram, n_votes)
    return float(table.values[slot, count_class(histogram, int(counts[label]))])


@lru_cache(maxsize=8)
def _study_table(n_learners: int, n_labels: int, edge: float) -> PotentialTable:
    return make_table(n_learners, n_labels, edge, slots=1024)


def potential_monte_carlo(
    votes: Sequence[int], label: int, remaining: int, edge: float, samples: int, seed: int
) -> float:
    """phi^y_n(s) estimated from `samples` random ends of the vote, as the paper suggests.

    For study: `potential` is exact and quicker.

    >>> round(potential_monte_carlo([3, 1, 0, 0], label=0, remaining=10, edge=0.1, samples=10_000, seed=7), 2)
    0.16
    """
    counts, label, remaining, edge = _checked(votes, label, remaining, edge)
    samples = _whole("samples", samples, 1, None)
    generator = np.random.default_rng(_whole("seed", seed, 0, None))
    chances = np.full(counts.size, (1.0 - edge) / counts.size)
    chances[label] += edge
    lost = 0.0
    for start in range(0, samples, _BATCH):
        ends = counts + generator.multinomial(remaining, chances, size=min(_BATCH, samples - start))
        leads = ends == ends.max(axis=1, keepdims=True)
        lost += float(np.sum(1.0 - leads[:, label] / leads.sum(axis=1)))
    return lost / samples


def _checked(
    votes: Sequence[int], label: int, remaining: int, edge: float
) -> tuple[IntArray, int, int, float]:
    counts = np.array([_whole("votes", count, 0, _MANY) for count in votes], dtype=np.int64)
    if counts.size < 2:
        raise ParameterError(f"votes={votes!r} must have a count for each of at least two labels")
    label = _whole("label", label, 0, counts.size - 1)
    return counts, label, _whole("remaining", remaining, 0, _MANY), _edge(edge)


def _whole(name: str, value: int, least: int, most: int | None) -> int:
    limit = f"at least {least}" if most is None else f"from {least} to {most}"
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise ParameterError(f"{name}={value!r} must be a whole number {limit}")
    return number


def _edge(value: float) -> float:
    try:
        edge = float(value)
    except (TypeError, ValueError):
        edge = math.nan
    if not 0.0 <= edge < 1.0:
        raise ParameterError(
            f"edge={value!r} must be a number from 0 (a weak learner that guesses) to below 1; the paper "
            "uses 0.1"
        )
    return edge
