"""The five boosters in plain loops and the paper's symbols.

Labels, learners and experts are counted from 0 here, from 1 in the paper: S[i] below
is the paper's s^{i-1} for learner number i, the votes of the learners before it.
"""

import math
from collections import namedtuple

from . import potential, rng

COST_TOLERANCE = 1e-9
LEAST_WEIGHT = 1e-10

Decision = namedtuple("Decision", "round h alpha experts expert yhat ytilde p rho")
BinDecision = namedtuple("BinDecision", "round h alpha f yhat ytilde p")


# Lines 5 to 10 of Algorithm 1


def weak_predictions(learners, x, seed, round):
    """h^i for every learner."""
    h = []
    for i, learner in enumerate(learners):
        h.append(learner.predict(x, lambda i=i: rng.uniform(seed, round, rng.LEAF_TIE, i)))
    return h


def cumulative_votes(h, alpha, k):
    """[s^0, s^1, ..., s^N], s^j = sum over i <= j of alpha^i e_{h^i}."""
    s = [0.0] * k
    S = [list(s)]
    for i in range(len(h)):
        s[h[i]] += alpha[i]
        S.append(list(s))
    return S


def expert_predictions(S, seed, round):
    """yhat^j = argmax_l s^j_l for j = 1..N, ties by a keyed number."""
    experts = []
    for j in range(len(S) - 1):
        s = S[j + 1]
        tied = [label for label in range(len(s)) if s[label] == max(s)]
        if len(tied) == 1:
            experts.append(tied[0])
        else:
            experts.append(rng.pick(rng.uniform(seed, round, rng.EXPERT_TIE, j), tied))
    return experts


def draw_expert(logv, seed, round):
    """i_t with probability proportional to v^i."""
    v = [math.exp(log_weight - max(logv)) for log_weight in logv]
    return rng.draw(rng.uniform(seed, round, rng.EXPERT, 0), v)


def explore(yhat, rho, k, seed, round):
    """Eq. (2): the shown label ytilde and its probability."""
    ytilde = rng.show(rng.uniform(seed, round, rng.EXPLORE, 0), yhat, rho, k)
    return ytilde, (1 - rho if ytilde == yhat else rho / (k - 1))


# Exploration that is not constant (docs/guide-exploration.md). A rho that is no number
# is an object that tells the rate of a round and hears every verdict.


class Falling:
    """rho_t = scale / t^power."""

    def __init__(self, scale, power, least, most):
        self.scale, self.power, self.least, self.most = scale, power, least, most

    def rate(self, round):
        return max(self.least, min(self.most, self.scale * (round + 1.0) ** -self.power))

    def heard(self, was_greedy, correct):
        pass


class ByError:
    """rho = scale times the mean error of the greedy label over the last verdicts, roughly."""

    def __init__(self, scale, memory, least, most):
        self.scale, self.memory, self.least, self.most = scale, memory, least, most
        self.error = 1.0
        self.verdicts = 0

    def rate(self, _round):
        return max(self.least, min(self.most, self.scale * self.error))

    def heard(self, was_greedy, correct):
        self.verdicts += 1
        if was_greedy:
            self.error += ((0.0 if correct else 1.0) - self.error) / min(self.verdicts + 20.0, self.memory)


class ByVotes:
    """rho = doubt^2; a fifth of it for all other labels, the rest by their votes."""

    def __init__(self, least, most):
        self.least, self.most = least, most

    def rate(self, _round):
        """Of the steps of alpha; what is shown hangs on the votes."""
        return self.least

    def heard(self, was_greedy, correct):
        pass

    def distribution(self, yhat, h, alpha, k):
        weights = [max(a, 0.0) for a in alpha]
        if max(weights) == 0:
            weights = [1.0] * len(h)
        votes, total, others = [0.0] * k, 0.0, 0.0
        for i in range(len(h)):
            votes[h[i]] += weights[i]
            total += weights[i]
            if h[i] != yhat:
                others += weights[i]
        doubt = others / total
        rho = max(self.least, min(self.most, doubt * doubt))
        p = []
        for i in range(k):
            if i == yhat:
                p.append(1 - rho)
            elif others > 0:
                p.append(rho * (0.2 / (k - 1) + 0.8 * votes[i] / others))
            else:
                p.append(rho / (k - 1))
        return rho, weights, p

    def show(self, yhat, h, alpha, k, u):
        """From one number: whether to explore, then which of the two parts, then the label."""
        rho, weights, p = self.distribution(yhat, h, alpha, k)
        if u < 1 - rho:
            return yhat, p[yhat]
        u = (u - (1 - rho)) / rho
        against = [i for i in range(len(h)) if h[i] != yhat and weights[i] > 0]
        uniform_part = 0.2 if against else 1.0
        if u < uniform_part:
            others = [label for label in range(k) if label != yhat]
            ytilde = others[min(int(u / uniform_part * (k - 1)), k - 2)]
        else:
            ytilde = h[
                against[rng.draw((u - uniform_part) / (1 - uniform_part), [weights[i] for i in against])]
            ]
        return ytilde, p[ytilde]


def rate_of(rho, round):
    return rho if isinstance(rho, float) else rho.rate(round)


def explore_with_votes(rho, yhat, h, alpha, k, seed, round):
    if isinstance(rho, ByVotes):
        return rho.show(yhat, h, alpha, k, rng.uniform(seed, round, rng.EXPLORE, 0))
    return explore(yhat, rate_of(rho, round), k, seed, round)


def hear(rho, decision, correct):
    if not isinstance(rho, float):
        rho.heard(decision.ytilde == decision.yhat, correct)


# Line 12: the estimate of the zero-one loss


def estimate_3(k, _yhat, ytilde, p, correct):
    """Eq. (3)."""
    return [(correct / p) * (label != ytilde) for label in range(k)]


def estimate_4(k, yhat, ytilde, p, correct):
    """Eq. (4). In a correct round the true label is the shown one."""
    lhat = []
    for label in range(k):
        first = (correct / p) * (label != ytilde) * (label != yhat)
        second = ((ytilde == yhat) / p) * (not correct) * (label == yhat)
        lhat.append(first + second)
    return lhat


ESTIMATES = {3: estimate_3, 4: estimate_4}


# Line 14: cost matrices C[l][r] and cost vectors


def logistic(z):
    """1 / (1 + exp(-z)), where exp would overflow its limit 0."""
    return 1 / (1 + math.exp(-z)) if z > -700 else 0.0


def adaptive_cost_matrix(s):
    """Eq. (10): column r is the gradient of the logistic loss if r is true."""
    k = len(s)
    C = [[0.0] * k for _ in range(k)]
    for r in range(k):
        for label in range(k):
            if label != r:
                C[label][r] = logistic(s[label] - s[r])
                C[r][r] -= C[label][r]
    return C


def optimal_cost_matrix(s, n, gamma):
    """Eq. (9): C[l][r] = phi^r_n(s + e_l), n = N - i learners still to vote."""
    k = len(s)
    known = {}  # an entry hangs on l = r or not and the two counts only
    C = [[0.0] * k for _ in range(k)]
    for label in range(k):
        for r in range(k):
            key = (label == r, s[label], s[r])
            if key not in known:
                known[key] = potential.phi(r, n, potential.plus_one(s, label), gamma)
            C[label][r] = known[key]
    return C


def times(C, vector):
    """Eq. (5): C . vector, where the vector is 1 - lhat, or e_y if y is known."""
    product = []
    for row in C:
        total = 0.0
        for r in range(len(vector)):
            total += row[r] * vector[r]
        product.append(total)
    return product


def basis(y, k):
    """e_y."""
    return [1.0 if label == y else 0.0 for label in range(k)]


# Definitions 3.1 and 3.2: what one round adds to both sides of the weak learning condition


def shifted_costs(C, y):
    """d_l = c_l - c_y, where c is column y of C: what is w c in the definitions, c_y = 0 and |c|_1 = 1."""
    return [row[y] - C[y][y] for row in C]


# Appendix, 'Updating Weak Learners'


def minima(c):
    """Which labels have the least cost; rounding errors make no difference."""
    m = min(c)
    return [label for label in range(len(c)) if c[label] <= m + COST_TOLERANCE * (1 + abs(m))]


def one_of(tied, u):
    return tied[0] if len(tied) == 1 else rng.pick(u(), tied)


def lesson_by_the_text(c, true_label, u, clip):
    """l = argmin_j c_j and w = sum_j (c_j - c_l), entries clipped to [-100, 100]. Of several
    minima one is chosen randomly in a mistake round, and the true label in a correct round if
    it minimised the cost vector."""
    clipped = [max(-clip, min(clip, cost)) for cost in c]
    weight = 0.0
    for cost in clipped:
        weight += cost - min(clipped)
    tied = minima(clipped)
    return (true_label if true_label in tied else one_of(tied, u)), weight


def lesson_by_differences(c, true_label, u, clip):
    """As in the text, but c_j - c_l is clipped and not c_j."""
    weight = 0.0
    for cost in c:
        weight += min(cost - min(c), clip)
    tied = minima(c)
    return (true_label if true_label in tied else one_of(tied, u)), weight


def our_lesson(c, true_label, u, clip):
    """Clipped differences, and the true label wherever it is known."""
    label, weight = lesson_by_differences(c, true_label, u, clip)
    return (label if true_label is None else true_label), weight


LESSONS = {"text": lesson_by_the_text, "differences": lesson_by_differences, "ours": our_lesson}


def label_and_weight(c, true_label, u, clip, importance_scale, lesson="ours"):
    """What a tree is taught for the cost vector c. true_label is None in a mistake
    round; u() is the COST_TIE number, asked for only when needed."""
    label, weight = LESSONS[lesson](c, true_label, u, clip)
    return label, weight * importance_scale


def teach(booster, i, x, c, true_label, decision):
    """Lines 15 and 16: the learner suffers the cost of what it has predicted, and is taught c as it is if it
    takes cost vectors, and else a label and a weight."""
    booster.suffered[i] += c[decision.h[i]]
    if hasattr(booster.learners[i], "learn_costs"):
        booster.learners[i].learn_costs(x, c)
        return

    def u():
        return rng.uniform(booster.seed, decision.round, rng.COST_TIE, i)

    label, weight = label_and_weight(c, true_label, u, booster.clip, booster.importance_scale, booster.lesson)
    if weight >= LEAST_WEIGHT:
        booster.learners[i].learn(x, label, weight)


# Line 13: the weights alpha


def logistic_loss(y, s):
    return sum(math.log(1 + math.exp(s_l - s[y])) for s_l in s)


def fhat(s, h, alpha, vector):
    """fhat^i(alpha) = sum_j l^log_j(s^{i-1} + alpha e_h) vector_j."""
    moved = list(s)
    moved[h] += alpha
    return sum(logistic_loss(j, moved) * vector[j] for j in range(len(s)))


def fhat_derivative(s, h, alpha, vector):
    """Only the votes of h move: in l^log_j that is the one term l = h if j is another
    label, and every term but the constant one if j = h."""
    moved = list(s)
    moved[h] += alpha
    derivative = 0.0
    for j in range(len(s)):
        if j != h:
            derivative += logistic(moved[h] - moved[j]) * vector[j]
        else:
            for label in range(len(s)):
                if label != h:
                    derivative -= logistic(moved[label] - moved[h]) * vector[h]
    return derivative


def project(alpha):
    return max(-2.0, min(2.0, alpha))


def shifted(logv):
    """Hedge weights count only up to a factor; the largest is kept at exp(0)."""
    largest = max(logv)
    return [log_weight - largest for log_weight in logv]


# The boosters


class AdaBandit:
    def __init__(self, k, learners, rho, seed, estimator=4, clip=100.0, importance_scale=1.0, lesson="ours"):
        self.k, self.learners, self.rho, self.seed = k, learners, rho, seed
        self.estimate = ESTIMATES[estimator]
        self.clip, self.importance_scale, self.lesson = clip, importance_scale, lesson
        self.alpha = [0.0] * len(learners)
        self.suffered = [0.0] * len(learners)
        self.logv = [0.0] * len(learners)
        self.round = 0
        self.verdicts = 0

    def decide(self, x):
        round, self.round = self.round, self.round + 1
        h = weak_predictions(self.learners, x, self.seed, round)
        S = cumulative_votes(h, self.alpha, self.k)
        experts = expert_predictions(S, self.seed, round)
        expert = draw_expert(self.logv, self.seed, round)
        yhat = experts[expert]
        ytilde, p = explore_with_votes(self.rho, yhat, h, self.alpha, self.k, self.seed, round)
        return Decision(
            round, h, list(self.alpha), experts, expert, yhat, ytilde, p, rate_of(self.rho, round)
        )

    def learn(self, decision, x, correct):
        self.verdicts += 1
        eta = decision.rho / (self.k**2 * math.sqrt(self.verdicts))
        hear(self.rho, decision, correct)
        lhat = self.estimate(self.k, decision.yhat, decision.ytilde, decision.p, correct)
        vector = [1 - loss for loss in lhat]
        true_label = decision.ytilde if correct else None
        S = cumulative_votes(decision.h, decision.alpha, self.k)
        for i in range(len(self.learners)):
            slope = fhat_derivative(S[i], decision.h[i], decision.alpha[i], vector)
            self.alpha[i] = project(self.alpha[i] - eta * slope)
            c = times(adaptive_cost_matrix(S[i]), vector)
            teach(self, i, x, c, true_label, decision)
            self.logv[i] -= lhat[decision.experts[i]]
        self.logv = shifted(self.logv)


class OptBandit:
    """The paper's BanditBBM."""

    def __init__(
        self,
        k,
        learners,
        rho,
        gamma,
        seed,
        estimator=4,
        clip=100.0,
        importance_scale=1.0,
        lesson="ours",
    ):
        self.k, self.learners, self.rho, self.seed = k, learners, rho, seed
        self.gamma = gamma
        self.estimate = ESTIMATES[estimator]
        self.clip, self.importance_scale, self.lesson = clip, importance_scale, lesson
        self.alpha = [1.0] * len(learners)
        self.suffered = [0.0] * len(learners)
        self.round = 0

    def decide(self, x):
        round, self.round = self.round, self.round + 1
        h = weak_predictions(self.learners, x, self.seed, round)
        S = cumulative_votes(h, self.alpha, self.k)
        experts = expert_predictions(S, self.seed, round)
        expert = len(self.learners) - 1
        yhat = experts[expert]
        ytilde, p = explore_with_votes(self.rho, yhat, h, self.alpha, self.k, self.seed, round)
        return Decision(
            round, h, list(self.alpha), experts, expert, yhat, ytilde, p, rate_of(self.rho, round)
        )

    def learn(self, decision, x, correct):
        N = len(self.learners)
        hear(self.rho, decision, correct)
        lhat = self.estimate(self.k, decision.yhat, decision.ytilde, decision.p, correct)
        vector = [1 - loss for loss in lhat]
        true_label = decision.ytilde if correct else None
        S = cumulative_votes(decision.h, decision.alpha, self.k)
        for i in range(N):
            remaining = N - (i + 1)
            c = times(optimal_cost_matrix(S[i], remaining, self.gamma), vector)
            teach(self, i, x, c, true_label, decision)


class AdaFull:
    """Adaboost.OLM (Jung, Goetz, Tewari 2017): AdaBandit with y known."""

    def __init__(self, k, learners, seed, clip=100.0, importance_scale=1.0, lesson="ours"):
        self.k, self.learners, self.seed = k, learners, seed
        self.clip, self.importance_scale, self.lesson = clip, importance_scale, lesson
        self.alpha = [0.0] * len(learners)
        self.suffered = [0.0] * len(learners)
        self.logv = [0.0] * len(learners)
        self.learned = 0

    def predict(self, x):
        round = self.learned
        h = weak_predictions(self.learners, x, self.seed, round)
        S = cumulative_votes(h, self.alpha, self.k)
        experts = expert_predictions(S, self.seed, round)
        expert = draw_expert(self.logv, self.seed, round)
        yhat = experts[expert]
        return Decision(round, h, list(self.alpha), experts, expert, yhat, yhat, 1.0, 0.0)

    def learn(self, decision, x, y):
        self.learned += 1
        eta = 2 * math.sqrt(2) / ((self.k - 1) * math.sqrt(self.learned))
        vector = basis(y, self.k)
        S = cumulative_votes(decision.h, decision.alpha, self.k)
        for i in range(len(self.learners)):
            slope = fhat_derivative(S[i], decision.h[i], decision.alpha[i], vector)
            self.alpha[i] = project(self.alpha[i] - eta * slope)
            c = times(adaptive_cost_matrix(S[i]), vector)
            teach(self, i, x, c, y, decision)
            if decision.experts[i] != y:
                self.logv[i] -= 1
        self.logv = shifted(self.logv)

    def step(self, x, y):
        decision = self.predict(x)
        self.learn(decision, x, y)
        return decision


class OptFull:
    """OnlineMBBM (Jung, Goetz, Tewari 2017): OptBandit with y known."""

    def __init__(self, k, learners, gamma, seed, clip=100.0, importance_scale=1.0, lesson="ours"):
        self.k, self.learners, self.gamma, self.seed = k, learners, gamma, seed
        self.clip, self.importance_scale, self.lesson = clip, importance_scale, lesson
        self.alpha = [1.0] * len(learners)
        self.suffered = [0.0] * len(learners)
        self.learned = 0

    def predict(self, x):
        round = self.learned
        h = weak_predictions(self.learners, x, self.seed, round)
        S = cumulative_votes(h, self.alpha, self.k)
        experts = expert_predictions(S, self.seed, round)
        expert = len(self.learners) - 1
        yhat = experts[expert]
        return Decision(round, h, list(self.alpha), experts, expert, yhat, yhat, 1.0, 0.0)

    def learn(self, decision, x, y):
        self.learned += 1
        N = len(self.learners)
        S = cumulative_votes(decision.h, decision.alpha, self.k)
        for i in range(N):
            remaining = N - (i + 1)
            c = times(optimal_cost_matrix(S[i], remaining, self.gamma), basis(y, self.k))
            teach(self, i, x, c, y, decision)

    def step(self, x, y):
        decision = self.predict(x)
        self.learn(decision, x, y)
        return decision


class BinBandit:
    """Chen, Lin, Lu 2014: for each label a group of N binary learners."""

    def __init__(
        self,
        k,
        N,
        make_learner,
        rho,
        gamma,
        seed,
        step=None,
        clip=math.inf,
        importance_scale=1.0,
    ):
        self.k, self.N, self.make_learner = k, N, make_learner
        self.rho, self.gamma, self.seed = rho, gamma, seed
        delta = (rho if isinstance(rho, float) else rho.least) * k / (k - 1)
        self.step = delta**3 / k if step is None else step
        self.clip, self.importance_scale = clip, importance_scale
        self.groups = {}  # label -> N learners, in order of creation
        self.log_alpha = {}  # label -> N log-weights
        self.round = 0

    def decide(self, x):
        round, self.round = self.round, self.round + 1
        h, alpha, f = [], [], []
        for a in range(self.k):
            h.append(self.group_votes(a, x))
            alpha.append(self.group_weights(a))
            total = 0.0
            for i in range(self.N):
                total += alpha[a][i] * h[a][i]
            f.append(total)
        tied = [a for a in range(self.k) if f[a] == max(f)]
        yhat = tied[0]
        if len(tied) > 1:
            u = rng.uniform(self.seed, round, rng.LABEL_TIE, 0)
            yhat = rng.pick(u, tied)
        ytilde, p = explore(yhat, rate_of(self.rho, round), self.k, self.seed, round)
        return BinDecision(round, h, alpha, f, yhat, ytilde, p)

    def group_votes(self, a, x):
        if a not in self.groups:
            return [0.0] * self.N
        return [2 * learner.score(x) - 1 for learner in self.groups[a]]

    def group_weights(self, a):
        if a not in self.groups:
            return [1 / self.N] * self.N
        return [math.exp(log_weight) for log_weight in self.log_alpha[a]]

    def make_group(self, a):
        first = len(self.groups) * self.N
        self.groups[a] = [self.make_learner(first + i) for i in range(self.N)]
        self.log_alpha[a] = [-math.log(self.N)] * self.N

    def learn(self, decision, x, correct):
        hear(self.rho, decision, correct)
        a, p = decision.ytilde, decision.p
        if a not in self.groups:
            self.make_group(a)
        y = 1 if correct else -1
        h = decision.h[a]
        theta = self.gamma / (2 + self.gamma)
        z = 0.0
        for i in range(self.N):
            wanted = min((1 - self.gamma) ** (z / 2), 1) / p
            weight = self.importance_scale * min(self.clip, wanted)
            if weight >= LEAST_WEIGHT:
                self.groups[a][i].learn(x, 1 if correct else 0, weight)
            z = z + y * h[i] - theta
        if y * decision.f[a] < theta:
            for i in range(self.N):
                self.log_alpha[a][i] += self.step * y * h[i] / p
            self.log_alpha[a] = normalised(self.log_alpha[a])


def normalised(log_weights):
    """Log-weights minus their log-sum-exp, so that the weights sum to one."""
    largest = max(log_weights)
    total = 0.0
    for log_weight in log_weights:
        total += math.exp(log_weight - largest)
    log_sum = largest + math.log(total)
    return [log_weight - log_sum for log_weight in log_weights]
