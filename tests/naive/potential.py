"""The potential phi^y_n(s): the chance of a final mistake when y is the true label,
the votes so far are s, and n more votes come, each drawn from u^y_gamma.

    phi^y_0(s)     = 1 - [y is among the maxima of s] / (number of maxima)
    phi^y_{n+1}(s) = E_{l ~ u^y_gamma} phi^y_n(s + e_l)

The paper writes phi_0 as the indicator of a mistake; a tie for the largest vote is
broken uniformly, and phi_0 is the expectation of that indicator.

Three ways to the same number, each checkable by eye: the definition as it stands
(`phi_recursive`), all k^n sequences of votes (`phi_enumerated`), and the definition on
states that keep only what matters (`phi`), quick enough for N = 20 and k = 26.
"""

import itertools
from functools import cache


def u_gamma(y, k, gamma):
    """u^y_gamma: uniform, with gamma more weight on y."""
    u = [(1 - gamma) / k] * k
    u[y] += gamma
    return u


def phi_0(y, s):
    maxima = [label for label in range(len(s)) if s[label] == max(s)]
    return 1 - (y in maxima) / len(maxima)


def plus_one(s, label):
    """s + e_label, as a tuple."""
    return tuple(s[r] + 1 if r == label else s[r] for r in range(len(s)))


@cache
def phi_recursive(y, n, s, gamma):
    """The definition. s is a tuple."""
    if n == 0:
        return phi_0(y, s)
    u = u_gamma(y, len(s), gamma)
    expectation = 0.0
    for label in range(len(s)):
        expectation += u[label] * phi_recursive(y, n - 1, plus_one(s, label), gamma)
    return expectation


def phi_enumerated(y, n, s, gamma):
    """All k^n sequences of n votes, each with its probability."""
    k = len(s)
    u = u_gamma(y, k, gamma)
    expectation = 0.0
    for votes in itertools.product(range(k), repeat=n):
        final = list(s)
        probability = 1.0
        for label in votes:
            final[label] += 1
            probability *= u[label]
        expectation += probability * phi_0(y, final)
    return expectation


def phi(y, n, s, gamma):
    """phi^y_n(s), knowing that it does not matter which label has which count."""
    others = tuple(sorted(s[r] for r in range(len(s)) if r != y))
    return phi_of_counts(n, s[y], others, gamma)


@cache
def phi_of_counts(n, s_y, others, gamma):
    """The definition again: s_y votes for y, `others` the sorted counts of the rest."""
    k = 1 + len(others)
    if n == 0:
        return phi_0(0, (s_y, *others))
    u_other = (1 - gamma) / k
    # The next vote goes to y ...
    expectation = (u_other + gamma) * phi_of_counts(n - 1, s_y + 1, others, gamma)
    # ... or to one of the others; those with the same count lead to the same state.
    for count in sorted(set(others)):
        how_many = others.count(count)
        after = list(others)
        after[after.index(count)] += 1
        after = tuple(sorted(after))
        expectation += u_other * how_many * phi_of_counts(n - 1, s_y, after, gamma)
    return expectation
