"""What the paper proves about its boosters, as numbers.

These are mistake bounds, exploration rates, and how many weak learners a target error takes.

Symbols of the paper: k is `n_labels`, N `n_learners`, gamma `edge`, gamma_i `edges`, T `rounds`, rho
`exploration`, delta `delta`. "Optimal" means OptBandit (the paper's BanditBBM, Theorem 3.2), "adaptive" means
AdaBandit (Theorem 3.3).

What is explicit and what is not. Each bound has three terms: asymptotic error times T, 2 rho T, and a term in
O-tilde. The first two carry the paper's own constants. The third is returned with constant 1, so it is a
**rate only, constant hidden**: the paper hides log(1/delta) there, the constant of sum_i w^i* = O(k^(5/2)
sqrt(N)), those of the gradient and Hedge regrets, and, for the optimal booster, all of the excess loss S
beyond k/rho. Use it to see how a bound scales, never as a certificate.

S = O-tilde(k/rho) is an assumption of Theorem 3.2, not a consequence of Theorem 3.1: without any regret of
the weak learner the supremum there is b^2 k log(1/delta) / (2 gamma m), which with b = k/rho grows as
k^3/rho^2. `excess_loss` computes it, and `optimal_mistake_bound` takes it as `excess`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from banditboost.errors import ParameterError
from banditboost.types import Array
from banditboost.validation import LARGEST_COUNT, check_count, check_number, refuse

_LONGEST_SEARCH = 2**200  # a supremum over more rounds than this is taken to be infinite


@dataclass(frozen=True)
class MistakeBound:
    """A bound on the number of mistakes, term by term.

    `asymptotic` and `exploration` (2 rho T) have the paper's constants; `hidden` is the O-tilde term with
    constant 1, a rate only.

    >>> bound = adaptive_mistake_bound(n_labels=2, edges=[0.5] * 100, rounds=1_000_000, exploration=0.05)
    >>> round(bound.explicit)
    740000
    """

    asymptotic: float
    exploration: float
    hidden: float
    rounds: int
    failures: int

    @property
    def explicit(self) -> float:
        """The mistakes that the terms with known constants allow."""
        return self.asymptotic + self.exploration

    @property
    def total(self) -> float:
        """All three terms, the hidden constant taken as 1."""
        return self.explicit + self.hidden

    @property
    def error(self) -> float:
        """`total` for each round."""
        return self.total / self.rounds

    @property
    def vacuous(self) -> bool:
        """True if the explicit terms alone allow a mistake in every round.

        Then the bound says nothing, whatever the hidden constant.
        """
        return self.explicit >= self.rounds

    def probability(self, delta: float) -> float:
        """How likely the bound holds at least.

        Each of its `failures` (N + 1 or N + 4) events fails with probability `delta`.
        """
        return max(0.0, 1.0 - self.failures * _share("delta", delta, "the failure probability of one event"))


@dataclass(frozen=True)
class SuggestedExploration:
    """An exploration rate that balances a bound, and the fewest rounds for which that rate is below 1.

    >>> round(optimal_exploration(n_labels=3, n_learners=20, rounds=1_000_000).rate, 3)
    0.014
    """

    rate: float
    rounds_needed: int

    @property
    def vacuous(self) -> bool:
        """True if the rate is no probability below 1.

        Then the stream is too short for the theorem to suggest anything.
        """
        return self.rate >= 1.0


@dataclass(frozen=True)
class WeakLearningCondition:
    """The sums of Definitions 3.1 and 3.2 of a stream that was played, one for each weak learner.

    In round t learner i has the true costs c, column y of its matrix. With d = c - c_y, the weight is |d|_1
    and d / |d|_1 is a cost vector of the definitions; guessing with edge gamma costs (1 - gamma) / k of the
    weight. Weights are to lie in [0, 1], so all are divided by the largest one of the stream. The condition
    with edge gamma and excess loss S then says

        sum_t d_t[h_t] <= (1 - gamma) / k sum_t |d_t|_1 + S max_t |d_t|_1.

    It is about true costs and the labels that were predicted: a stream tells whether it held there, not
    whether it holds with probability 1 - delta.

    Attributes:
        n_labels: k.
        losses: sum_t d_t[h_t].
        weights: sum_t |d_t|_1.
        largest_weights: max_t |d_t|_1.

    >>> from banditboost import OptBandit, play
    >>> X = [{"colour": colour} for colour in ("red", "blue") * 200]
    >>> model = OptBandit(["stop", "go"], n_learners=3, seed=1)
    >>> condition = play(model, X, ["stop", "go"] * 200, condition=True).condition
    >>> condition.edges.round(2).tolist(), condition.holds(0.1).tolist()
    ([0.93, 0.88, 0.64], [True, True, True])
    >>> round(float(condition.excess(1.0).max()), 1)
    19.4
    """

    n_labels: int
    losses: Array
    weights: Array
    largest_weights: Array

    @property
    def edges(self) -> Array:
        """The largest gamma with which the condition holds without excess loss: 1 - k sum d_h / sum |d|_1.

        It is 0 for guessing and 1 for a learner that is always right. NaN if no round had a weight. AdaBandit
        and AdaFull have columns that sum to 0, and it equals their gamma_i.
        """
        return np.asarray(1.0 - self.n_labels * _quotient(self.losses, self.weights))

    def excess(self, gamma: float) -> Array:
        """The least S with which the condition holds for this gamma: negative, if there is room left."""
        guessing = (1.0 - _signed_edge(gamma)) * self.weights / self.n_labels
        return _quotient(self.losses - guessing, self.largest_weights)

    def holds(self, gamma: float, excess: float = 0.0) -> Array:
        """Whether the condition holds with this gamma and an excess loss S, learner by learner."""
        limit = check_number("excess", excess, 0.0, math.inf, hint="0, or S in units of the largest weight")
        return np.asarray(~(self.excess(gamma) > limit))

    def __str__(self) -> str:
        rows = zip(self.edges, self.excess(0.1), self.excess(0.0), strict=True)
        lines = [
            f"{i:7} {edge:8.3f} {at:8.2f} {at_0:8.2f}" for i, (edge, at, at_0) in enumerate(rows, start=1)
        ]
        return "\n".join(["learner     edge   S(0.1)     S(0)", *lines])


def optimal_asymptotic_error(n_labels: int, n_learners: int, edge: float) -> float:
    """(k - 1) exp(-gamma^2 N / 2): the error that OptBandit tends to.

    OptFull (OnlineMBBM), with full information, tends to it just as well. It bounds the potential phi_N(0),
    which is smaller and which the booster computes exactly. Above 1 it says nothing.

    >>> round(optimal_asymptotic_error(n_labels=3, n_learners=1000, edge=0.1), 6)
    0.013476
    """
    return _optimal_error(_labels(n_labels), _learners(n_learners), _edge(edge))


def adaptive_asymptotic_error(n_labels: int, edges: Iterable[float], *, sharper: bool = False) -> float:
    """8k / sum_i gamma_i^2: the error that AdaBandit tends to.

    AdaFull (Adaboost.OLM), with full information, tends to it just as well. `sharper` gives 8 (k - 1) log(2)
    / sum_i gamma_i^2, from the proof's line before the last.

    >>> adaptive_asymptotic_error(n_labels=2, edges=[0.5] * 100)
    0.64
    >>> round(adaptive_asymptotic_error(n_labels=2, edges=[0.5] * 100, sharper=True), 4)
    0.2218
    """
    k, (squares, _) = _labels(n_labels), _edges(edges)
    return 8.0 * (k - 1) * math.log(2.0) / squares if sharper else _adaptive_error(k, squares)


def optimal_mistake_bound(
    n_labels: int,
    n_learners: int,
    edge: float,
    rounds: int,
    exploration: float,
    *,
    excess: float | None = None,
) -> MistakeBound:
    """Theorem 3.2: (k - 1) exp(-gamma^2 N / 2) T + 2 rho T + O-tilde(k^(5/2) sqrt(N) S).

    S is `excess`, by default the paper's k/rho.

    >>> bound = optimal_mistake_bound(n_labels=3, n_learners=1000, edge=0.1, rounds=10**6, exploration=0.05)
    >>> [round(term) for term in (bound.asymptotic, bound.exploration, bound.hidden, bound.total)]
    [13476, 100000, 29577, 143053]
    >>> round(bound.error, 3), bound.vacuous, round(bound.probability(delta=1e-5), 5)
    (0.143, False, 0.98999)
    """
    k, n, t, rho = _labels(n_labels), _learners(n_learners), _rounds(rounds), _exploration(exploration)
    s = (
        k / rho
        if excess is None
        else _positive("excess", excess, "leave it out, or compute it with excess_loss")
    )
    return MistakeBound(
        asymptotic=_optimal_error(k, n, _edge(edge)) * t,
        exploration=2.0 * rho * t,
        hidden=k**2.5 * math.sqrt(n) * s,
        rounds=t,
        failures=n + 1,
    )


def adaptive_mistake_bound(
    n_labels: int, edges: Iterable[float], rounds: int, exploration: float, *, sharper: bool = False
) -> MistakeBound:
    """Theorem 3.3: 8k T / sum_i gamma_i^2 + 2 rho T + O-tilde(k^3 N^2 / (rho^2 sum_i gamma_i^2)).

    N is the number of `edges`.

    `sharper` gives the proof's line before the last, 8 (k - 1) log(2) T / sum_i gamma_i^2 + 2 rho T +
    O-tilde(k^2 N sqrt(T) / (rho sum_i gamma_i^2)): the constant is smaller, the hidden term falls more
    slowly. Edges may be negative: a learner worse than chance helps too.

    >>> bound = adaptive_mistake_bound(n_labels=2, edges=[0.5] * 100, rounds=1_000_000, exploration=0.05)
    >>> [round(term) for term in (bound.asymptotic, bound.exploration, bound.hidden, bound.total)]
    [640000, 100000, 1280000, 2020000]
    """
    k, t, rho = _labels(n_labels), _rounds(rounds), _exploration(exploration)
    squares, n = _edges(edges)
    asymptotic = 8.0 * (k - 1) * math.log(2.0) / squares if sharper else _adaptive_error(k, squares)
    hidden = k**2 * n * math.sqrt(t) / rho / squares if sharper else k**3 * n**2 / rho / rho / squares
    return MistakeBound(
        asymptotic=asymptotic * t, exploration=2.0 * rho * t, hidden=hidden, rounds=t, failures=n + 4
    )


def optimal_exploration(n_labels: int, n_learners: int, rounds: int) -> SuggestedExploration:
    """rho = k^(7/4) N^(1/4) / sqrt(T), which balances the bound of Theorem 3.2.

    With it the bound grows as k^(7/4) N^(1/4) sqrt(T) over its asymptotic term. With constant 1 the exact
    minimiser of 2 rho T + k^(7/2) sqrt(N) / rho is smaller by sqrt(2); the difference costs 6 %.

    >>> suggestion = optimal_exploration(n_labels=3, n_learners=20, rounds=6250)
    >>> round(suggestion.rate, 4), suggestion.rounds_needed, suggestion.vacuous
    (0.1829, 210, False)
    """
    k, n, t = _labels(n_labels), _learners(n_learners), _rounds(rounds)
    return SuggestedExploration(rate=k**1.75 * n**0.25 / math.sqrt(t), rounds_needed=math.isqrt(k**7 * n) + 1)


def adaptive_exploration(n_labels: int, edges: Iterable[float], rounds: int) -> SuggestedExploration:
    """rho = k N^(2/3) / (T sum_i gamma_i^2)^(1/3), which balances the bound of Theorem 3.3.

    It is the exact minimiser of 2 rho T + k^3 N^2 / (rho^2 sum_i gamma_i^2).

    >>> suggestion = adaptive_exploration(n_labels=3, edges=[0.1] * 15, rounds=6250)
    >>> round(suggestion.rate, 4), suggestion.vacuous
    (1.8643, True)
    >>> round(adaptive_exploration(n_labels=3, edges=[0.1] * 15, rounds=10_000_000).rate, 4)
    0.1594
    """
    k, t = _labels(n_labels), _rounds(rounds)
    squares, n = _edges(edges)
    return SuggestedExploration(
        rate=k * math.cbrt(n * n / squares / t), rounds_needed=math.floor(k**3 * n**2 / squares) + 1
    )


def optimal_learners_needed(n_labels: int, edge: float, target_error: float) -> int:
    """The fewest weak learners for which `optimal_asymptotic_error` is at most `target_error`.

    Their number grows as log(1 / target_error).

    >>> optimal_learners_needed(n_labels=3, edge=0.25, target_error=0.125)
    89
    """
    k, gamma = _labels(n_labels), _edge(edge)
    return _fewest(lambda n: _optimal_error(k, n, gamma), _target(target_error), gamma)


def adaptive_learners_needed(n_labels: int, edge: float, target_error: float) -> int:
    """The fewest weak learners for which `adaptive_asymptotic_error` is at most `target_error`.

    Each of them has this empirical edge. Grows as 1 / target_error; that is the price of not having to know
    the edge.

    >>> adaptive_learners_needed(n_labels=3, edge=0.25, target_error=0.125)
    3072
    """
    k, gamma = _labels(n_labels), _edge(edge)
    return _fewest(lambda n: _adaptive_error(k, n * (gamma * gamma)), _target(target_error), gamma)


def estimate_bound(n_labels: int, exploration: float) -> float:
    """b = k / rho, the paper's bound on how far the loss estimate of eq.

    (4) strays from the loss; `estimate_deviation` is exact.

    It holds for rho <= (sqrt(k^2 + 4k) - k) / 2, which is 0.73 for two labels and more for others; above, rho
    / (1 - rho) takes over. It is about the loss, not about costs: see `cost_deviation`.

    >>> estimate_bound(n_labels=4, exploration=0.05)
    80.0
    """
    return _labels(n_labels) / _exploration(exploration)


def estimate_deviation(n_labels: int, exploration: float) -> float:
    """The largest |lhat_i - l_i| that eq. (4) can give, exactly.

    1 where nothing is learned of a label, rho / (1 - rho) when the greedy label is shown, and (k - 1) / rho -
    1 when a mistake is found out by exploring (which takes a third label to be seen in).

    >>> estimate_deviation(n_labels=4, exploration=0.05)
    59.0
    """
    k, rho = _labels(n_labels), _exploration(exploration)
    found_out = (k - 1) / rho - 1.0 if k > 2 else 0.0
    return max(1.0, rho / (1.0 - rho), found_out)


def cost_deviation(n_labels: int, exploration: float) -> float:
    """The largest |chat_l - c_l| of AdaBandit's cost vectors, exactly: k - 1 times `estimate_deviation`.

    The paper takes k / rho (`estimate_bound`) for it. With more than two labels it is approached when a label
    that trails all others by far is neither the right nor the greedy one, and an exploration hits.

    >>> cost_deviation(n_labels=8, exploration=0.1), estimate_bound(n_labels=8, exploration=0.1)
    (483.0, 80.0)
    """
    return (_labels(n_labels) - 1) * estimate_deviation(n_labels, exploration)


def excess_loss(
    n_labels: int,
    edge: float,
    bound: float,
    delta: float,
    *,
    min_weight: float = 1.0,
    regret: Callable[[int], float] = lambda rounds: 0.0,  # noqa: ARG005
) -> float:
    """S of Theorem 3.1, the excess loss of a weak learner.

    It is the supremum over T of -gamma m T / k + b sqrt(2 T log(1/delta)) + R(T), and 0 for no rounds.

    `bound` is b: the paper has `estimate_bound`, cost vectors as they are need `cost_deviation`. `min_weight`
    is m, and `regret` the R of an agnostic learner, which has
    to be concave and sublinear: then the supremum is a maximum and is found exactly. (The lemma in the proof
    has log(2/delta): give half the `delta` for that.)

    >>> round(excess_loss(n_labels=3, edge=0.1, bound=estimate_bound(3, 0.1), delta=0.05))
    40442
    >>> bound = estimate_bound(n_labels=3, exploration=0.1)
    >>> round(excess_loss(n_labels=3, edge=0.1, bound=bound, delta=0.05, regret=lambda t: 2 * t**0.5))
    42675
    """
    weight = _share("min_weight", min_weight, "leave out rounds of no weight", one_allowed=True)
    slope = _edge(edge) * weight / _labels(n_labels)
    failure = _share("delta", delta, "such as 0.05")
    noise = _positive("bound", bound, "use estimate_bound") * math.sqrt(-2.0 * math.log(failure))

    def excess(rounds: int) -> float:
        value = regret(rounds)
        if not math.isfinite(value):
            refuse(f"regret({rounds})", value, "give a concave, sublinear function with finite values")
        return noise * math.sqrt(rounds) + value - slope * rounds

    return max(0.0, _concave_maximum(excess))


def empirical_edge(costs_suffered: Iterable[float], costs_of_truth: Iterable[float]) -> float:
    """gamma_i = sum_t c_t[h_t] / sum_t c_t[y_t], the empirical edge of one weak learner.

    It is 1 if the learner is always right, about 0 if it guesses, and never outside [-1, 1]. The costs are
    the true ones (columns y_t of eq. (10)), so this can only be told of a stream whose labels are known.

    >>> empirical_edge(costs_suffered=[-1.0, 0.5, -1.0], costs_of_truth=[-1.0, -1.0, -1.0])
    0.5
    """
    truth = math.fsum(costs_of_truth)
    if not truth < 0.0:
        refuse(
            "the sum of costs_of_truth",
            truth,
            "give the cost of the true label in each round, which is negative",
        )
    return math.fsum(costs_suffered) / truth


def _optimal_error(n_labels: int, n_learners: int, edge: float) -> float:
    return (n_labels - 1) * math.exp(-edge * edge * n_learners / 2.0)


def _adaptive_error(n_labels: int, squares: float) -> float:
    return 8.0 * n_labels / squares


def _fewest(error: Callable[[int], float], target: float, edge: float) -> int:
    """The smallest n >= 1 with error(n) <= target, for an error that falls with n."""
    high = 1
    while error(high) > target:
        high *= 2
        if high > LARGEST_COUNT:
            refuse(
                "edge", edge, f"give a larger one: an error of {target!r} would take over 2**53 weak learners"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= target else (middle, high)
    return high


def _concave_maximum(function: Callable[[int], float]) -> float:
    """The largest value of a concave function over the integers from 1 on."""
    high = 1
    while function(2 * high) > function(high):
        high *= 2
        if high > _LONGEST_SEARCH:
            raise ParameterError(
                "regret outgrows edge * min_weight / n_labels a round; give a concave, "
                "sublinear function of the rounds"
            )
    low, high = max(1, high // 2), 2 * high
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (left, high) if function(left) < function(right) else (low, right)
    return max(function(rounds) for rounds in range(low, high + 1))


def _quotient(of: Array, by: Array) -> Array:
    """NaN where there is nothing to divide by."""
    return np.asarray(np.divide(of, by, out=np.full(len(by), math.nan), where=by > 0.0))


def _signed_edge(value: float) -> float:
    return check_number("gamma", value, -1.0, 1.0, hint="the edge over guessing that is asked for")


def _positive(name: str, value: float, hint: str) -> float:
    return check_number(name, value, 0.0, math.inf, open_low=True, hint=hint)


def _share(name: str, value: float, hint: str, *, one_allowed: bool = False) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=not one_allowed, hint=hint)


def _labels(value: int) -> int:
    return check_count("n_labels", value, 2, hint="there have to be two labels to choose from")


def _learners(value: int) -> int:
    return check_count("n_learners", value, 1, hint="the number of weak learners")


def _rounds(value: int) -> int:
    return check_count("rounds", value, 1, hint="the length of the stream")


def _exploration(value: float) -> float:
    return _share("exploration", value, "the bounds need some exploration, but not only that")


def _target(value: float) -> float:
    return _share("target_error", value, "the share of mistakes to get down to")


def _edge(value: float) -> float:
    return _share("edge", value, "a weak learner has to be better than chance", one_allowed=True)


def _edges(values: Iterable[float]) -> tuple[float, int]:
    """The sum of the squares and how many there are."""
    given = list(values)
    edges = [
        check_number(f"edges[{i}]", edge, -1.0, 1.0, hint="see empirical_edge")
        for i, edge in enumerate(given)
    ]
    squares = math.fsum(edge**2 for edge in edges)
    if not squares > 0.0:
        refuse("edges", given, "give at least one that is not 0: a weak learner has to differ from chance")
    return squares, len(edges)
