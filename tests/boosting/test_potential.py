"""The potential against its definition, against enumeration, against another algorithm, and against what must
hold of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from banditboost.boosting.potential import (
    PotentialTable,
    find_state,
    make_table,
    potential,
    potential_monte_carlo,
    vote_costs,
)
from banditboost.boosting.vote_states import MOST_VOTES, count_class, count_partitions, find_slot, state_key
from tests.naive.boosters import optimal_cost_matrix
from tests.naive.potential import phi, phi_enumerated

EDGES = [0.0, 0.1, 0.5]
INTERPRETED = bool(config.DISABLE_JIT)  # then a state of 100 votes takes 20 ms, not 0.1 ms


def histogram_of(counts: list[int], n_learners: int) -> np.ndarray:
    return np.bincount(counts, minlength=n_learners + 2).astype(np.int64)


def random_histogram(n_learners: int, n_labels: int, n_votes: int, rng: np.random.Generator) -> np.ndarray:
    """Votes that favour no count over another, so that states with few and with many leaders come up."""
    histogram = histogram_of([0] * n_labels, n_learners)
    for _ in range(n_votes):
        cast(histogram, int(rng.choice(np.flatnonzero(histogram))))
    return histogram


def cast(histogram: np.ndarray, count: int) -> None:
    histogram[count] -= 1
    histogram[count + 1] += 1


def values_of(table: PotentialTable, histogram: np.ndarray, n_votes: int) -> dict[int, float]:
    """phi by vote count, read from the table."""
    slot = find_state(table, histogram, n_votes)
    return {
        int(c): float(table.values[slot, count_class(histogram, int(c))]) for c in np.flatnonzero(histogram)
    }


def partitions(n: int, most: int | None = None) -> Iterator[list[int]]:
    if n == 0:
        yield []
    for part in range(min(n, most or n), 0, -1):
        for rest in partitions(n - part, part):
            yield [part, *rest]


# Against the definition


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("n_labels", [2, 3, 4])
def test_equals_enumeration_of_vote_sequences(n_labels: int, edge: float) -> None:
    most = {2: 4, 3: 3, 4: 2}[n_labels]
    for remaining in range(7):
        for votes in itertools.combinations_with_replacement(range(most + 1), n_labels):
            for label in {votes.index(count) for count in votes}:
                expected = phi_enumerated(label, remaining, votes, edge)
                assert potential(votes, label, remaining, edge) == pytest.approx(expected, abs=1e-12, rel=0.0)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("n_labels", [2, 3, 26])
@pytest.mark.parametrize("n_learners", [1, 5, 20])
def test_equals_the_recursion(n_learners: int, n_labels: int, edge: float) -> None:
    rng = np.random.default_rng(n_learners * n_labels)
    table = make_table(n_learners, n_labels, edge)
    for n_votes in range(n_learners + 1):
        for _ in range(4):
            histogram = random_histogram(n_learners, n_labels, n_votes, rng)
            votes = tuple(int(c) for c in np.repeat(np.arange(histogram.size), histogram))
            for count, value in values_of(table, histogram, n_votes).items():
                expected = phi(votes.index(count), n_learners - n_votes, votes, edge)
                assert value == pytest.approx(expected, abs=1e-12, rel=0.0)


# Against another algorithm, where the recursion has too many states


def phi_by_convolution(votes: list[int], label: int, remaining: int, edge: float) -> float:
    """Coefficients of the product of truncated series by convolution: slow, but all terms are positive, so
    rounding cannot grow.
    """
    chance = edge + (1 - edge) / len(votes)
    others = sorted(votes[:label] + votes[label + 1 :])
    win = []
    for gained in range(max(0, others[-1] - votes[label]), remaining + 1):
        rest, total = remaining - gained, votes[label] + gained
        nodes, weights = np.polynomial.legendre.leggauss(
            1 + min(len(votes), (sum(votes) + remaining) // max(total, 1)) // 2
        )
        product = 0.0
        for z, weight in zip((1 + nodes) / 2, weights / 2, strict=True):
            series = np.eye(1, rest + 1)[0]
            for count in sorted(set(others)):
                terms = [1.0 if v < total - count else z * (v == total - count) for v in range(rest + 1)]
                factor = np.array(
                    [term / math.factorial(v) * (1 / len(others)) ** v for v, term in enumerate(terms)]
                )
                series = np.convolve(series, power(factor, others.count(count)))[: rest + 1]
            product += weight * series[rest] * math.factorial(rest)
        win.append(math.comb(remaining, gained) * chance**gained * (1 - chance) ** rest * product)
    return 1 - math.fsum(win)


def power(series: np.ndarray, exponent: int) -> np.ndarray:
    result = np.eye(1, series.size)[0]
    for bit in bin(exponent)[2:]:
        result = np.convolve(result, result)[: series.size]
        if bit == "1":
            result = np.convolve(result, series)[: series.size]
    return result


@pytest.mark.parametrize(
    ("n_labels", "edge"), [(2, 0.3), (10, 0.1), (26, 0.0), (10_000, 0.0), (10_000, 0.1), (10_000, 0.9)]
)
def test_equals_convolution_for_many_votes_and_labels(n_labels: int, edge: float) -> None:
    rng = np.random.default_rng(n_labels)
    for n_votes in (60, 85) if INTERPRETED else (0, 20, 60, 85):
        votes = rng.multinomial(n_votes, rng.dirichlet(np.full(n_labels, 0.3))).tolist()
        for label in {int(np.argmax(votes)), int(np.argmin(votes))}:
            expected = phi_by_convolution(votes, label, 100 - n_votes, edge)
            assert potential(votes, label, 100 - n_votes, edge) == pytest.approx(expected, abs=1e-13, rel=0.0)


# What must hold of it


@pytest.mark.parametrize(
    ("n_learners", "n_labels"),
    [(20, 26)] if INTERPRETED else [(20, 26), (100, 2), (100, 26), (100, 10_000), (MOST_VOTES, 10_000)],
)
@pytest.mark.parametrize("edge", [0.0, 0.1])
def test_is_a_martingale(n_learners: int, n_labels: int, edge: float) -> None:
    rng = np.random.default_rng(5)
    table = make_table(n_learners, n_labels, edge, slots=4096)
    for n_votes in sorted({0, 1, 2, n_learners - 1, *rng.integers(n_learners, size=8).tolist()}):
        histogram = random_histogram(n_learners, n_labels, n_votes, rng)
        now = values_of(table, histogram, n_votes)
        expected = {count: edge * after_vote(table, histogram, n_votes, count)[count + 1] for count in now}
        for voted in now:
            after = after_vote(table, histogram, n_votes, voted)
            for count in now:
                same = int(voted == count)
                others = int(histogram[voted]) - same
                total = (others * after[count] if others else 0.0) + (after[count + 1] if same else 0.0)
                expected[count] += (1 - edge) / n_labels * total
        assert now == pytest.approx(expected, abs=1e-12, rel=0.0)


def after_vote(table: PotentialTable, histogram: np.ndarray, n_votes: int, count: int) -> dict[int, float]:
    after = histogram.copy()
    cast(after, count)
    return values_of(table, after, n_votes + 1)


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[int], int, int, float]:
    votes = draw(st.lists(st.integers(0, 6), min_size=2, max_size=8))
    edge = draw(st.one_of(st.sampled_from([0.0, 0.1]), st.floats(0.0, 0.99)))
    return votes, draw(st.integers(0, len(votes) - 1)), draw(st.integers(0, 20)), edge


@given(situations(), st.randoms(use_true_random=False))
def test_does_not_depend_on_the_names_of_labels(
    situation: tuple[list[int], int, int, float], random: object
) -> None:
    votes, label, remaining, edge = situation
    order = list(range(len(votes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    renamed = [votes[r] for r in order]
    assert potential(renamed, order.index(label), remaining, edge) == potential(votes, label, remaining, edge)


@given(situations())
def test_is_a_probability_and_least_when_the_right_label_is_voted_for(
    situation: tuple[list[int], int, int, float],
) -> None:
    votes, label, remaining, edge = situation
    after = [
        potential([c + (r == voted) for r, c in enumerate(votes)], label, remaining, edge)
        for voted in range(len(votes))
    ]
    assert all(0.0 <= value <= 1.0 for value in after)
    assert after[label] <= min(after) + 1e-12


@given(situations(), st.integers(0, 1000))
def test_only_distances_count(situation: tuple[list[int], int, int, float], more: int) -> None:
    votes, label, remaining, edge = situation
    assert potential([count + more for count in votes], label, remaining, edge) == potential(
        votes, label, remaining, edge
    )


def test_what_is_decided_is_exact() -> None:
    assert potential([9, 0, 3, 2], 0, 5, 0.1) == 0.0
    assert potential([9, 0, 3, 2], 2, 5, 0.1) == 1.0
    assert potential([4, 4, 1, 4], 1, 0, 0.1) == 1.0 - 1.0 / 3.0
    assert potential([4, 4, 1, 4], 2, 0, 0.1) == 1.0


@pytest.mark.parametrize(("n_votes", "edge"), [(20, 0.1), (11, 0.0)])
def test_chances_to_win_sum_to_one_exactly_without_votes_or_without_edge(n_votes: int, edge: float) -> None:
    table = make_table(20, 26, edge)
    histogram = random_histogram(20, 26, n_votes, np.random.default_rng(2))
    assert table.values[find_state(table, histogram, n_votes), -1] == 25.0
    assert sum(
        histogram[c] * value for c, value in values_of(table, histogram, n_votes).items()
    ) == pytest.approx(25.0, abs=1e-12)


# The costs of a learner


@pytest.mark.parametrize("n_labels", [2, 3, 8])
@pytest.mark.parametrize("edge", [0.0, 0.1])
@pytest.mark.parametrize("slots", [None, 2])
def test_vote_costs_are_the_product_with_the_cost_matrix(
    n_labels: int, edge: float, slots: int | None
) -> None:
    rng = np.random.default_rng(n_labels)
    n_learners = 9
    table = make_table(n_learners, n_labels, edge, slots=slots)
    for n_votes in range(n_learners):
        votes = rng.multinomial(n_votes, rng.dirichlet(np.ones(n_labels))).tolist()
        matrix = np.array(optimal_cost_matrix(votes, n_learners - n_votes - 1, edge))
        for shown, greedy in itertools.product(range(n_labels), repeat=2):
            mix = rng.normal(size=3)
            vector = np.full(n_labels, mix[0])
            vector[shown] += mix[1]
            if shown != greedy:
                vector[greedy] += mix[2]
            costs = costs_of_labels(table, votes, shown, greedy, mix)
            assert costs == pytest.approx(matrix @ vector, abs=1e-12, rel=0.0)


def costs_of_labels(
    table: PotentialTable, votes: list[int], shown: int, greedy: int, mix: np.ndarray
) -> list[float]:
    histogram = histogram_of(votes, 9)
    before = histogram.copy()
    by_count = np.full(histogram.size, np.nan)
    second = -1 if shown == greedy else votes[greedy]
    shown_cost, greedy_cost = vote_costs(table, histogram, sum(votes), votes[shown], second, mix, by_count)
    assert (histogram == before).all()
    costs = [float(by_count[count]) for count in votes]
    costs[greedy] = greedy_cost
    costs[shown] = shown_cost
    return costs


# The table


@pytest.mark.parametrize("n_votes", range(21))
def test_states_are_numbered_without_gaps(n_votes: int) -> None:
    counts = count_partitions(20)
    states = list(partitions(n_votes))
    keys = sorted(state_key(counts, histogram_of(parts, 20), n_votes) for parts in states)
    first = sum(len(list(partitions(m))) for m in range(n_votes))
    assert keys == list(range(first, first + len(states)))


def test_partition_numbers_of_many_votes() -> None:
    counts = count_partitions(MOST_VOTES)
    assert counts[100, 1] == 190_569_292
    assert counts[200, 1] == 3_972_999_029_388


def test_slots_are_shared_by_no_two_keys() -> None:
    keys = np.full(64, -1, dtype=np.int64)
    wanted = [5, 5 + 64, 5 + 128, 2**40 + 5, 63, 127]
    for key in wanted:
        keys[find_slot(keys, key)] = key
    assert sorted(keys[keys >= 0]) == sorted(wanted)
    assert all(keys[find_slot(keys, key)] == key for key in wanted)


def test_a_table_too_small_for_the_run_gives_the_same_values() -> None:
    rng = np.random.default_rng(3)
    large, small = make_table(12, 5, 0.1), make_table(12, 5, 0.1, slots=4)
    assert small.keys.size == 4
    for n_votes in rng.integers(13, size=100).tolist():
        histogram = random_histogram(12, 5, n_votes, rng)
        assert values_of(large, histogram, n_votes) == values_of(small, histogram, n_votes)
        assert np.count_nonzero(small.keys >= 0) <= 2


@pytest.mark.parametrize(
    ("n_learners", "n_labels", "megabytes"), [(20, 26, 1), (33, 26, 16), (100, 10_000, 32), (200, 10_000, 80)]
)
def test_memory_is_bounded(n_learners: int, n_labels: int, megabytes: int) -> None:
    assert sum(array.nbytes for array in make_table(n_learners, n_labels, 0.1)) < megabytes * 2**20


def test_all_states_of_twenty_votes_fit() -> None:
    table = make_table(20, 26, 0.1)
    assert table.keys.size >= 2 * int(table.partitions[20, 0] + table.partitions[20, 1]) == 2 * 2714


def test_every_state_has_room_for_its_classes() -> None:
    for n_learners in range(1, 21):
        table = make_table(n_learners, 30, 0.1)
        most = max(1 + len(set(parts)) for m in range(n_learners + 1) for parts in partitions(m))
        assert table.values.shape[1] == most + 1


# Monte Carlo


@pytest.mark.parametrize(
    ("votes", "label", "remaining"), [([3, 1, 0, 0], 0, 10), ([2, 2, 1], 2, 7), ([0] * 50, 4, 20)]
)
def test_monte_carlo_converges_to_it(votes: list[int], label: int, remaining: int) -> None:
    exact = potential(votes, label, remaining, 0.1)
    for samples in (100, 40_000):
        estimate = potential_monte_carlo(votes, label, remaining, 0.1, samples=samples, seed=1)
        assert abs(estimate - exact) < 5 * math.sqrt(exact * (1 - exact) / samples)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], 0, 3, 0.1), r"votes=\[1\]"),
        (([1, -1], 0, 3, 0.1), "votes=-1"),
        (([1, 0.5], 0, 3, 0.1), r"votes=0\.5"),
        (([1, 0], 2, 3, 0.1), "label=2 must be a whole number from 0 to 1"),
        (([1, 0], 0, -1, 0.1), "remaining=-1"),
        (([1, 10**30], 0, 1, 0.1), "votes=1000000"),
        (([1, 0], 0, 3, 1.0), r"edge=1\.0"),
        (([1, 0], 0, 3, math.nan), "edge=nan"),
        (([1, 0], 0, 3, "much"), "edge='much'"),
        (([1, 0], 0, 200, 0.1), "use potential_monte_carlo"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[list[int], int, int, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        potential(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 3, 0.1), "n_learners=0"),
        ((201, 3, 0.1), "n_learners=201"),
        ((5, 1, 0.1), "n_labels=1"),
        ((5, 3, -0.1), "edge=-0.1"),
    ],
)
def test_bad_tables_are_refused(arguments: tuple[int, int, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_table(*arguments)


def test_bad_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="samples=0"):
        potential_monte_carlo([1, 0], 0, 3, 0.1, samples=0, seed=0)
