"""A density over one learner's weight alpha in [-2, 2], and how it is integrated.

The density is P(alpha) proportional to exp(-L(alpha)), L the sum of the losses of all rounds so far. In each
round only one entry of s moves with alpha, so with q = softmax(s)_h, what that round adds is

    W ln(1 - q + q e^alpha) - w alpha

and a constant, where w is how right label h is taken to be, and W the same for all labels together. That is
a smooth function: its values at NODES Chebyshev points say it everywhere, to 1e-13. So L is kept at these
points, and is read in between by its Chebyshev series.

The integral is over a *window* outside of which the density is below e^-25 of its peak, by the rule of Gauss
and Legendre. The window follows the density as it grows narrow, so that probabilities are right to 1e-9 after
a hundred thousand rounds as after ten (docs/mixture.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.compiled.compile import allocating, inlined, loop
from banditboost.trees.special_functions import exp_negative, xlogx_lane
from banditboost.types import Array

LARGEST = 2.0  # the feasible set F = [-2, 2]
NODES = 24  # at which L is kept
POINTS = 32  # at which the density is looked at in its window
_BELOW = 25.0  # ln of how far the density must have fallen at the ends of its window,
_TARGET, _FAR_BELOW = 30.0, 36.0  # to where an end is moved back that is too far out, and when
NARROWEST = 1e-6  # window
_LEAST_LOG = 690.0
_E_LARGEST = math.exp(LARGEST)


class Rule(NamedTuple):
    """What integrating needs, the same for all models."""

    nodes: Array  # alpha at the Chebyshev points
    exps: Array  # e^alpha there
    series: Array  # [NODES, NODES]: from values at the nodes to coefficients
    points: Array  # Gauss and Legendre's, on [-1, 1]
    weights: Array


def make_rule() -> Rule:
    """The points and weights."""
    angles = math.pi * (np.arange(NODES) + 0.5) / NODES
    nodes = LARGEST * np.cos(angles)
    series = 2.0 / NODES * np.cos(np.arange(NODES)[:, None] * angles)
    series[0] /= 2.0
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    return Rule(nodes, np.exp(nodes), np.ascontiguousarray(series.T), points, weights)


RULE = make_rule()


class Densities(NamedTuple):
    """The densities of N learners."""

    losses: Array  # [N, NODES]: L at the nodes; the least of each is 0
    windows: Array  # [N, 2]: from where to where each is integrated
    places: Array  # [N, POINTS]: e^alpha at the points of the window,
    masses: Array  # [N, POINTS]: and how much of the density is there. Both follow from the other two


def uniform_densities(n_learners: int) -> Densities:
    """All weights are alike at first."""
    windows = np.tile([-LARGEST, LARGEST], (n_learners, 1))
    return densities_of(np.zeros((n_learners, NODES)), windows)


def densities_of(losses: Array, windows: Array) -> Densities:
    """The densities that were kept by their losses and windows."""
    shape = len(losses), POINTS
    densities = Densities(losses, windows, np.empty(shape), np.empty(shape))
    weigh_all(densities, RULE)
    return densities


def mean_weights(densities: Densities) -> Array:
    """The mean of each learner's alpha."""
    low, high = densities.windows.T
    means: Array = 0.5 * (low + high) + 0.5 * (high - low) * (densities.masses @ RULE.points)
    return means


@allocating
def weigh_all(densities: Densities, rule: Rule) -> None:
    """Find places and masses for windows as they are."""
    work = np.empty((4, POINTS))
    for i in range(densities.losses.shape[0]):
        weigh(densities, i, rule, work)


@loop
def find_coefficients(losses: Array, series: Array, coefficients: Array) -> None:
    """The Chebyshev series of L, four nodes at a time; one more coefficient is 0."""
    for n in range(coefficients.size):
        coefficients[n] = 0.0
    for m in range(0, losses.size, 4):
        for n in range(series.shape[1]):
            coefficients[n] += (
                losses[m] * series[m, n]
                + losses[m + 1] * series[m + 1, n]
                + losses[m + 2] * series[m + 2, n]
                + losses[m + 3] * series[m + 3, n]
            )


@loop
def sum_series(points: Array, window: Array, work: Array) -> None:
    """L at the points of a window, by Clenshaw's recursion, four coefficients at a time; it is left in
    `work[1]`, and half of alpha in `work[3]`.

    Lengths are read off the arrays: loops of a known length would be unrolled, and not vectorised.
    """
    coefficients, read, before, place = work[0], work[1], work[2], work[3]
    middle, half = 0.5 * (window[0] + window[1]), 0.5 * (window[1] - window[0])
    for j in range(points.size):
        place[j] = (middle + half * points[j]) / LARGEST
        read[j] = 0.0
        before[j] = 0.0
    for n in range(NODES, 0, -4):
        c1, c2, c3, c4 = coefficients[n], coefficients[n - 1], coefficients[n - 2], coefficients[n - 3]
        for j in range(points.size):
            twice = 2.0 * place[j]
            b1 = c1 + twice * read[j] - before[j]
            b2 = c2 + twice * b1 - read[j]
            b3 = c3 + twice * b2 - b1
            read[j] = c4 + twice * b3 - b2
            before[j] = b3
    for j in range(points.size):
        read[j] = coefficients[0] + place[j] * read[j] - before[j]


@loop
def weigh_points(work: Array, weights: Array, least: float, places: Array, masses: Array) -> None:
    """Places and masses of the points of a window, from L there."""
    read, place = work[1], work[3]
    for j in range(places.size):
        places[j] = exp_negative(LARGEST * place[j] - LARGEST) * _E_LARGEST
    for j in range(masses.size):
        down = read[j] - least
        masses[j] = weights[j] * exp_negative(-(down if down < _LEAST_LOG else _LEAST_LOG))
    total = 0.0
    for j in range(masses.size):
        total += masses[j]
    for j in range(masses.size):
        masses[j] /= total


@inlined
def weigh(densities: Densities, i: int, rule: Rule, work: Array) -> float:
    """Places and masses of learner i; returns the least L at them."""
    find_coefficients(densities.losses[i], rule.series, work[0])
    sum_series(rule.points, densities.windows[i], work)
    least = math.inf
    for j in range(POINTS):
        least = min(least, work[1, j])
    weigh_points(work, rule.weights, least, densities.places[i], densities.masses[i])
    return least


@inlined
def widen(densities: Densities, i: int, rule: Rule, losses: Array, least: float) -> bool:
    """Move those ends of the window outwards at which the density has not fallen far enough, or beyond which
    it is as large; whether there were any.
    """
    window = densities.windows[i]
    low, high = window[0], window[1]
    step = 0.5 * (high - low)
    if low > -LARGEST and losses[0] - least < _BELOW:
        window[0] = max(-LARGEST, low - step)
    if high < LARGEST and losses[POINTS - 1] - least < _BELOW:
        window[1] = min(LARGEST, high + step)
    for m in range(NODES):
        if densities.losses[i, m] - least < _BELOW:
            window[0], window[1] = min(window[0], rule.nodes[m]), max(window[1], rule.nodes[m])
    return window[0] < low or window[1] > high


@inlined
def narrow(densities: Densities, i: int, rule: Rule, losses: Array, least: float) -> bool:
    """Move those ends of the window inwards at which the density has fallen much too far; whether there were
    any.
    """
    window = densities.windows[i]
    first, last = 0, POINTS - 1
    while losses[first + 1] - least > _TARGET:
        first += 1
    while losses[last - 1] - least > _TARGET:
        last -= 1
    middle, half = 0.5 * (window[0] + window[1]), 0.5 * (window[1] - window[0])
    if half * (rule.points[last] - rule.points[first]) < NARROWEST:
        return False
    moved = False
    if losses[0] - least > _FAR_BELOW:
        window[0], moved = middle + half * rule.points[first], True
    if losses[POINTS - 1] - least > _FAR_BELOW:
        window[1], moved = middle + half * rule.points[last], True
    return moved


@inlined
def follow(densities: Densities, i: int, rule: Rule, work: Array) -> None:
    """Places and masses of learner i after its losses have changed, with a window that fits."""
    losses = work[1]
    least = weigh(densities, i, rule, work)
    while widen(densities, i, rule, losses, least):
        least = weigh(densities, i, rule, work)
    if narrow(densities, i, rule, losses, least):
        weigh(densities, i, rule, work)


@loop
def add_losses(losses: Array, rule: Rule, q: float, mine: float, all_: float) -> None:
    """L(alpha) += all_ ln(1 - q + q e^alpha) - mine alpha, at the nodes; the least is brought back to 0."""
    nodes, exps = rule.nodes, rule.exps
    for m in range(losses.size):
        z = 1.0 - q + q * exps[m]
        losses[m] += all_ * (xlogx_lane(z) / z) - mine * nodes[m]
    least = math.inf
    for m in range(losses.size):
        least = min(least, losses[m])
    for m in range(losses.size):
        losses[m] -= least


@loop
def mixed_weight(places: Array, masses: Array, q: float) -> float:
    """The one weight that does what the mixture does: softmax(s + alpha e_h), averaged over the density, is
    softmax(s + weight e_h).

    The odds of h grow by the mean of its probability divided by the mean of the others'.
    """
    voted, others = 0.0, 0.0
    for j in range(places.size):
        share = masses[j] / (1.0 - q + q * places[j])
        voted += share * places[j]
        others += share
    return math.log(voted / others)


@loop
def mean_weight(masses: Array, points: Array, window: Array) -> float:
    """The mean of alpha."""
    mean = 0.0
    for j in range(points.size):
        mean += masses[j] * points[j]
    return 0.5 * (window[0] + window[1]) + 0.5 * (window[1] - window[0]) * mean
