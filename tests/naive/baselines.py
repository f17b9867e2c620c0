"""The baselines in plain loops. Labels are counted from 0."""

import math
from collections import namedtuple

from . import rng

BAG = 20

Decision = namedtuple("Decision", "round yhat ytilde p")


class Baseline:
    """Epsilon-greedy over `scores(x)`: eq. (2) of the paper, ties by a keyed number."""

    def __init__(self, k, rho, seed):
        self.k, self.rho, self.seed = k, rho, seed
        self.round = 0

    def best(self, scores, labels, round, index):
        largest = max(scores[label] for label in labels)
        tied = [label for label in labels if scores[label] == largest]
        return (
            tied[0] if len(tied) == 1 else rng.pick(rng.uniform(self.seed, round, rng.LABEL_TIE, index), tied)
        )

    def decide(self, x):
        round, self.round = self.round, self.round + 1
        yhat = self.best(self.scores(x), range(self.k), round, 0)
        ytilde = rng.show(rng.uniform(self.seed, round, rng.EXPLORE, 0), yhat, self.rho, self.k)
        return Decision(round, yhat, ytilde, 1 - self.rho if ytilde == yhat else self.rho / (self.k - 1))


class Random(Baseline):
    def __init__(self, k, seed):
        super().__init__(k, (k - 1) / k, seed)

    def scores(self, _x):
        return [0.0] * self.k

    def learn(self, decision, x, correct):
        pass


class Majority(Baseline):
    def __init__(self, k, rho, seed):
        super().__init__(k, rho, seed)
        self.earned, self.heard = [0] * k, [0] * k

    def scores(self, _x):
        return [(earned + 1) / (heard + 1) for earned, heard in zip(self.earned, self.heard, strict=True)]

    def learn(self, decision, _x, reward):
        self.heard[decision.ytilde] += 1
        self.earned[decision.ytilde] += reward


class Linear(Baseline):
    """phi(x) is a dict: "constant", a numeric feature, or (a nominal feature, its value) -> number."""

    def __init__(self, k, kinds, rho, seed):
        super().__init__(k, rho, seed)
        self.kinds = kinds  # shared with the caller, who may let it grow
        self.largest = {}  # numeric feature -> largest absolute value of rows that were learned

    def phi(self, x):
        vector = {"constant": 1.0}
        for feature, value in enumerate(x):
            if math.isnan(value) or (self.kinds[feature] == "nominal" and value >= 2**32):
                continue  # missing, or a name without a place of its own
            if self.kinds[feature] == "nominal":
                vector[feature, int(value)] = 1.0
            elif value != 0:
                vector[feature] = value / max(self.largest.get(feature, 0.0), abs(value))
        square = 0.0
        for number in vector.values():
            square += number * number
        return {column: number / math.sqrt(square) for column, number in vector.items()}

    def look_at(self, x):
        for feature, value in enumerate(x):
            if self.kinds[feature] == "numeric" and not math.isnan(value):
                self.largest[feature] = max(self.largest.get(feature, 0.0), abs(value))

    def scores(self, x):
        scores = []
        for label in range(self.k):
            score = 0.0
            for column, number in self.phi(x).items():
                score += self.weight(label, column) * number
            scores.append(score)
        return scores


class Banditron(Linear):
    """W += (1[right] / p e_ytilde - e_yhat) phi(x)^T."""

    def __init__(self, k, kinds, rho, seed):
        super().__init__(k, kinds, rho, seed)
        self.W = {}

    def weight(self, label, column):
        return self.W.get((label, column), 0.0)

    def learn(self, decision, x, reward):
        self.look_at(x)
        for column, number in self.phi(x).items():
            if reward:
                self.W[decision.ytilde, column] = (
                    self.weight(decision.ytilde, column) + reward / decision.p * number
                )
            self.W[decision.yhat, column] = self.weight(decision.yhat, column) - number


class DiagonalSOBA(Linear):
    """g, z and m are written out as vectors over (label, column)."""

    def __init__(self, k, kinds, rho, seed, a=1.0):
        super().__init__(k, kinds, rho, seed)
        self.a = a
        self.A, self.theta = {}, {}
        self.sum_of_m = 0.0

    def diagonal(self, place):
        return self.A.get(place, self.a)

    def weight(self, label, column):
        return self.theta.get((label, column), 0.0) / self.diagonal((label, column))

    def times_W(self, vector):
        return sum(self.weight(*place) * number for place, number in vector.items())

    def learn(self, decision, x, correct):
        self.look_at(x)
        if not correct:
            return
        y, p = decision.ytilde, decision.p
        others = [label for label in range(self.k) if label != y]
        rival = self.best(self.scores(x), others, decision.round, 1)
        g = {}
        for column, number in self.phi(x).items():
            g[rival, column] = number / p
            g[y, column] = -number / p
        z = {place: math.sqrt(p) * number for place, number in g.items()}
        spread = sum(number**2 / self.diagonal(place) for place, number in z.items())
        m = (self.times_W(z) ** 2 + 2 * self.times_W(g)) / (1 + spread)
        if self.sum_of_m + m >= 0:
            self.sum_of_m += m
            for place in g:
                self.A[place] = self.diagonal(place) + z[place] ** 2
                self.theta[place] = self.theta.get(place, 0.0) - g[place]


def poisson(u):
    """The smallest n with P(N <= n) > u for N of mean 1."""
    n = 0
    while sum(math.exp(-1) / math.factorial(i) for i in range(n + 1)) <= u and n < 100:
        n += 1
    return n


class EpsilonGreedyForest(Baseline):
    """A group of trees for each label that was shown and heard of; make_learner(number) makes tree number 0,
    1, ...
    """

    def __init__(self, k, n_learners, make_learner, rho, seed, bagged=True):
        super().__init__(k, rho, seed)
        self.n_learners, self.make_learner, self.bagged = n_learners, make_learner, bagged
        self.groups = {}

    def scores(self, x):
        scores = [0.0] * self.k
        for label, group in self.groups.items():
            for tree in group:
                scores[label] += math.exp(-math.log(self.n_learners)) * (2 * tree.score(x) - 1)
        return scores

    def learn(self, decision, x, correct):
        label = decision.ytilde
        if label not in self.groups:
            first = len(self.groups) * self.n_learners
            self.groups[label] = [self.make_learner(first + i) for i in range(self.n_learners)]
        for i, tree in enumerate(self.groups[label]):
            weight = poisson(rng.uniform(self.seed, decision.round, BAG, i)) if self.bagged else 1
            if weight > 0:
                tree.learn(x, int(correct), weight)
