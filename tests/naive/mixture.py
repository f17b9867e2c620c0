"""Adaboost.OLM++ (Foster et al., 2018) in plain loops, and the same with bandit feedback.

Each learner holds the logarithm of its density over alpha at many points of [-2, 2], and a mixture is a sum
over them. Only entry h of s moves with alpha: with q = softmax(s)_h,

    softmax(s + alpha e_h)_h = q e^alpha / (1 - q + q e^alpha),

and the other labels share the rest as before. test_naive_mixture.py holds this against softmax itself.
"""

import math

from . import rng
from .boosters import (
    ESTIMATES,
    Decision,
    basis,
    draw_expert,
    explore_with_votes,
    hear,
    rate_of,
    shifted,
    teach,
    times,
    weak_predictions,
)

PANELS = 80  # enough for some hundred rounds; then densities grow too narrow for them
EQUAL = 1e-9
GAUSS = (  # points and weights on [-1, 1]
    (0.0, 128 / 225),
    (math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 900),
    (-math.sqrt(5 - 2 * math.sqrt(10 / 7)) / 3, (322 + 13 * math.sqrt(70)) / 900),
    (math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 900),
    (-math.sqrt(5 + 2 * math.sqrt(10 / 7)) / 3, (322 - 13 * math.sqrt(70)) / 900),
)


def points_and_weights():
    """Five points in each panel; panels are narrow at the ends, where densities may be steep."""
    points, weights = [], []
    for panel in range(PANELS):
        low = -2 * math.cos(math.pi * panel / PANELS)
        high = -2 * math.cos(math.pi * (panel + 1) / PANELS)
        for x, w in GAUSS:
            points.append((low + high) / 2 + (high - low) / 2 * x)
            weights.append((high - low) / 2 * w)
    return points, weights


POINTS, WEIGHTS = points_and_weights()


def softmax(s):
    largest = max(s)
    e = [math.exp(entry - largest) for entry in s]
    total = sum(e)
    return [entry / total for entry in e]


def loss_of_alpha(q, alpha, mine, all):
    """sum_j l_j(s + alpha e_h) vector_j, where l_j(s) = -ln softmax(s)_j, without what does not hang on alpha;
    q = softmax(s)_h, mine = vector_h, all = sum_j vector_j. The vector is 1 - lhat, or e_y if y is known."""
    return all * math.log(1 - q + q * math.exp(alpha)) - mine * alpha


def cost_matrix(s):
    """C[l][r] is entry l of the gradient of l_r at s."""
    k, p = len(s), softmax(s)
    return [[p[label] - (label == r) for r in range(k)] for label in range(k)]


def masses(log_density):
    """How much of a density is at each point."""
    largest = max(log_density)
    mass = [WEIGHTS[j] * math.exp(log_density[j] - largest) for j in range(len(POINTS))]
    total = sum(mass)
    return [m / total for m in mass]


def mixture(s, h, log_density):
    """The mean of softmax(s + alpha e_h) over the density."""
    p, mass = softmax(s), masses(log_density)
    q, mean = p[h], 0.0
    for j in range(len(POINTS)):
        e = math.exp(POINTS[j])
        mean += mass[j] * q * e / (1 - q + q * e)
    after = [(1 - mean) / (1 - q) * entry for entry in p]
    after[h] = mean
    return after


def smooth(p, round):
    """(1 - mu) p + mu / k with mu = 1 / (t + 1)^2, t from 1 on."""
    mu = 1 / (round + 2) ** 2
    return [(1 - mu) * entry + mu / len(p) for entry in p]


def mean_alpha(log_density):
    mass = masses(log_density)
    return sum(mass[j] * POINTS[j] for j in range(len(POINTS)))


def expert_predictions(S, seed, round):
    """yhat^j = argmax_l s^j_l for j = 1..N; probabilities that differ by rounding are equal."""
    experts = []
    for j in range(len(S) - 1):
        p = softmax(S[j + 1])
        tied = [label for label in range(len(p)) if p[label] >= max(p) * (1 - EQUAL)]
        if len(tied) == 1:
            experts.append(tied[0])
        else:
            experts.append(rng.pick(rng.uniform(seed, round, rng.EXPERT_TIE, j), tied))
    return experts


class Mixtures:
    """What both boosters share. A decision's alpha is what a mixture amounts to: the ln of how much the odds of
    the label voted for have grown."""

    def __init__(self, k, learners, seed, clip, importance_scale, lesson):
        self.k, self.learners, self.seed = k, learners, seed
        self.clip, self.importance_scale, self.lesson = clip, importance_scale, lesson
        self.log_density = [[0.0] * len(POINTS) for _ in learners]
        self.logv = [0.0] * len(learners)
        self.suffered = [0.0] * len(learners)

    @property
    def alpha(self):
        return [mean_alpha(log_density) for log_density in self.log_density]

    def chain(self, h, round):
        """[s^0, s^1, ..., s^N] and what each vote amounts to."""
        s = [0.0] * self.k
        S, alpha = [s], []
        for i in range(len(h)):
            before, after = softmax(s), mixture(s, h[i], self.log_density[i])
            q, p = before[h[i]], after[h[i]]
            alpha.append(math.log(p / (1 - p) * (1 - q) / q))
            s = [math.log(entry) for entry in smooth(after, round)]
            S.append(s)
        return S, alpha

    def predict(self, x, round):
        h = weak_predictions(self.learners, x, self.seed, round)
        S, alpha = self.chain(h, round)
        experts = expert_predictions(S, self.seed, round)
        expert = draw_expert(self.logv, self.seed, round)
        return h, S, alpha, experts, expert

    def learn_from(self, decision, S, x, vector, eta, true_label):
        for i in range(len(self.learners)):
            h = decision.h[i]
            C = cost_matrix(S[i])
            c = [self.k / 2 * cost for cost in times(C, vector)]
            teach(self, i, x, c, true_label, decision)
            q, mine, all = softmax(S[i])[h], vector[h], sum(vector)
            for j in range(len(POINTS)):
                self.log_density[i][j] -= eta * loss_of_alpha(q, POINTS[j], mine, all)
            self.logv[i] -= 1 - vector[decision.experts[i]]
        self.logv = shifted(self.logv)


class MixFull(Mixtures):
    def __init__(self, k, learners, seed, clip=100.0, importance_scale=1.0, lesson="ours"):
        super().__init__(k, learners, seed, clip, importance_scale, lesson)
        self.learned = 0

    def step(self, x, y):
        h, S, alpha, experts, expert = self.predict(x, self.learned)
        yhat = experts[expert]
        decision = Decision(self.learned, h, alpha, experts, expert, yhat, yhat, 1.0, 0.0)
        self.learned += 1
        self.learn_from(decision, S, x, basis(y, self.k), 1.0, y)
        return decision


class MixBandit(Mixtures):
    def __init__(self, k, learners, rho, seed, estimator=4, clip=100.0, importance_scale=1.0, lesson="ours"):
        super().__init__(k, learners, seed, clip, importance_scale, lesson)
        self.rho, self.estimate = rho, ESTIMATES[estimator]
        self.round, self.verdicts = 0, 0
        self.chains = {}

    def decide(self, x):
        round, self.round = self.round, self.round + 1
        h, self.chains[round], alpha, experts, expert = self.predict(x, round)
        yhat = experts[expert]
        ytilde, p = explore_with_votes(self.rho, yhat, h, alpha, self.k, self.seed, round)
        return Decision(round, h, alpha, experts, expert, yhat, ytilde, p, rate_of(self.rho, round))

    def learn(self, decision, x, correct):
        self.verdicts += 1
        eta = math.sqrt(decision.rho / (self.k**3 * self.verdicts))
        hear(self.rho, decision, correct)
        lhat = self.estimate(self.k, decision.yhat, decision.ytilde, decision.p, correct)
        vector = [1 - loss for loss in lhat]
        true_label = decision.ytilde if correct else None
        self.learn_from(decision, self.chains.pop(decision.round), x, vector, eta, true_label)
