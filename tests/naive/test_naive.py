"""The twins' own sanity. They are compared with the package elsewhere."""

import math

import pytest

from . import boosters, potential, rng
from .tree import Tree

SEED = 11


def number(round, index=0):
    """A uniform number for making test data, from a seed of its own."""
    return rng.uniform(987, round, 63, index)


def make_tree(k, kinds, n_values, leaf_prediction="majority"):
    return Tree(k, kinds, n_values, 20, 0.05, 0.05, leaf_prediction)


# Random numbers


def test_mix_is_the_published_finaliser():
    # First output of splitmix64 seeded with 0, a published test vector.
    assert rng.mix(rng.GOLDEN) == 0xE220A8397B1DCDAF


def test_uniform_numbers_look_uniform():
    for purpose in range(1, 11):
        us = [rng.uniform(SEED, t, purpose, 0) for t in range(2000)]
        assert all(0 <= u < 1 for u in us)
        assert abs(sum(us) / len(us) - 0.5) < 0.03


def test_choices():
    assert [rng.draw(u, [1, 2, 1]) for u in (0, 0.24, 0.25, 0.74, 0.75)] == [
        0,
        0,
        1,
        1,
        2,
    ]
    shown = [rng.show((j + 0.5) / 1000, 1, 0.3, 4) for j in range(1000)]
    assert [shown.count(label) for label in range(4)] == [100, 700, 100, 100]
    assert rng.show(1 - 2**-53, 1, 0.3, 4) == 3
    assert rng.log_between(0.5, 0.01, 1.0) == pytest.approx(0.1)


# Potential


@pytest.mark.parametrize("s", [(0, 0, 0), (2, 1, 1), (0, 3), (1, 0, 2, 1)])
@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.6])
def test_three_ways_to_the_potential(s, gamma):
    for y in range(len(s)):
        for n in range(5):
            expected = potential.phi_enumerated(y, n, s, gamma)
            assert potential.phi_recursive(y, n, s, gamma) == pytest.approx(expected)
            assert potential.phi(y, n, s, gamma) == pytest.approx(expected)


def test_potential_with_many_labels():
    s = (2, 0, 1) + (0,) * 23
    for y in range(4):
        expected = potential.phi_enumerated(y, 2, s, 0.1)
        assert potential.phi(y, 2, s, 0.1) == pytest.approx(expected)


def test_large_potential_is_a_probability_that_falls_with_votes_for_y():
    s = [0] * 26
    before = potential.phi(3, 20, tuple(s), 0.1)
    s[3] = 1
    assert 0 < potential.phi(3, 19, tuple(s), 0.1) < before < 1


# Estimates


@pytest.mark.parametrize("estimator", [3, 4])
def test_estimate_is_unbiased(estimator):
    k, rho = 4, 0.3
    for y in range(k):
        for yhat in range(k):
            mean = [0.0] * k
            for ytilde in range(k):
                p = 1 - rho if ytilde == yhat else rho / (k - 1)
                lhat = boosters.ESTIMATES[estimator](k, yhat, ytilde, p, ytilde == y)
                mean = [m + p * loss for m, loss in zip(mean, lhat, strict=True)]
            assert mean == pytest.approx([float(label != y) for label in range(k)])


# Costs and gradients

VOTES = [[0.0, 0.0, 0.0], [1.5, -0.3, 0.0, 0.7], [2.0, 2.0, -2.0, 0.0, 1e-3]]


@pytest.mark.parametrize("s", VOTES)
def test_adaptive_columns_sum_to_zero_and_favour_the_true_label(s):
    C = boosters.adaptive_cost_matrix(s)
    for r in range(len(s)):
        column = [row[r] for row in C]
        assert sum(column) == pytest.approx(0, abs=1e-12)
        assert column.index(min(column)) == r


@pytest.mark.parametrize("s", VOTES)
def test_adaptive_column_is_the_gradient_of_the_logistic_loss(s):
    C = boosters.adaptive_cost_matrix(s)
    for r in range(len(s)):
        for label in range(len(s)):
            up, down = list(s), list(s)
            up[label] += 1e-5
            down[label] -= 1e-5
            rise = boosters.logistic_loss(r, up) - boosters.logistic_loss(r, down)
            assert C[label][r] == pytest.approx(rise / 2e-5, abs=1e-6)


@pytest.mark.parametrize("s", [[0, 0, 0], [2, 1, 0, 0], [1, 1, 3]])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_optimal_columns_favour_the_true_label(s, n):
    C = boosters.optimal_cost_matrix(s, n, 0.1)
    for r in range(len(s)):
        column = [row[r] for row in C]
        assert column[r] == min(column)
        u = potential.u_gamma(r, len(s), 0.1)
        mean = sum(u[label] * column[label] for label in range(len(s)))
        assert mean == pytest.approx(potential.phi_enumerated(r, n + 1, s, 0.1))


@pytest.mark.parametrize("s", VOTES)
def test_derivative_of_fhat(s):
    vector = [1 - 1.25 * (label != 1) for label in range(len(s))]
    for h in range(len(s)):
        for alpha in (-1.7, 0.0, 0.4):
            up = boosters.fhat(s, h, alpha + 1e-5, vector)
            down = boosters.fhat(s, h, alpha - 1e-5, vector)
            slope = boosters.fhat_derivative(s, h, alpha, vector)
            assert slope == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_label_and_weight():
    def rule(c, true_label=None, clip=100.0, scale=1.0):
        return boosters.label_and_weight(c, true_label, lambda: 0.6, clip, scale)

    assert rule([1.0, -2.0, 0.5]) == (1, 5.5)
    assert rule([0.0, 3.0, 0.0, 1e-12]) == (2, pytest.approx(3.0))  # 2nd of 3 tied
    assert rule([0.0, 3.0, 0.0], true_label=0) == (0, 3.0)
    assert rule([0.0, 3.0, 0.0], true_label=1) == (1, 3.0)  # known, so taught though not among the minima
    assert rule([-300.0, 300.0], scale=0.5) == (0, 50.0)
    assert rule([-6000.0, -6001.0, -6000.0]) == (1, 2.0)  # an offset is not clipped


def test_label_and_weight_by_the_text():
    def rule(c, true_label=None, clip=100.0, scale=1.0):
        return boosters.label_and_weight(c, true_label, lambda: 0.6, clip, scale, "text")

    assert rule([1.0, -2.0, 0.5]) == (1, 5.5)
    assert rule([0.0, 3.0, 0.0], true_label=2) == (2, 3.0)
    assert rule([0.0, 3.0, 0.0], true_label=1) == (2, 3.0)  # the true label is no minimum: 2nd of 2 tied
    assert rule([-300.0, 300.0], scale=0.5) == (0, 100.0)
    assert rule([-6000.0, -6001.0, -6000.0], true_label=0) == (0, 0.0)  # clipped, the vector is flat
    assert rule([500.0, 50.0, 400.0], clip=10.0) == (1, 0.0)


# Trees


def never():
    raise AssertionError("no tie to break")


@pytest.mark.parametrize("leaf_prediction", ["majority", "naive_bayes", "adaptive"])
def test_tree_learns_a_threshold(leaf_prediction):
    tree = make_tree(2, ["numeric", "numeric"], [0, 0], leaf_prediction)
    for t in range(1000):
        x = [number(t, 0), number(t, 1)]
        tree.learn(x, int(x[1] > 0.5), 1.0)
    assert tree.shape()["feature"] == 1
    assert tree.shape()["threshold"] == pytest.approx(0.5, abs=0.06)
    assert [tree.predict([0.5, v], never) for v in (0.1, 0.3, 0.8)] == [0, 0, 1]
    assert tree.score([0.5, 0.05]) < 0.2 < 0.8 < tree.score([0.5, 0.95])


@pytest.mark.parametrize("leaf_prediction", ["majority", "naive_bayes", "adaptive"])
def test_tree_learns_a_nominal_rule(leaf_prediction):
    n_values = [2, 3]
    tree = make_tree(3, ["nominal", "nominal"], n_values, leaf_prediction)
    for t in range(400):
        x = [math.floor(2 * number(t, 0)), math.floor(3 * number(t, 1))]
        tree.learn(x, (x[1] + 1) % 3, 1.0)
    assert tree.n_nodes() == 4
    assert tree.n_leaves() == 3
    assert [tree.predict([0, v], never) for v in range(3)] == [1, 2, 0]
    heaviest = max(tree.root.children, key=lambda child: child.start_weight)
    for unknown in (math.nan, 3.0):
        assert tree.path([0.0, unknown])[-1] is heaviest


def test_weighted_welford_step():
    tree = make_tree(2, ["numeric"], [0])
    tree.grace_period = math.inf
    rows = [(3.0, 0.5), (-1.0, 2.0), (math.nan, 9.0), (4.0, 1.25)]
    for value, weight in rows:
        tree.learn([value], 1, weight)
    m = tree.root.moments[0, 1]
    known = [row for row in rows if not math.isnan(row[0])]
    w = sum(weight for _, weight in known)
    mean = sum(value * weight for value, weight in known) / w
    M2 = sum(weight * (value - mean) ** 2 for value, weight in known)
    assert (m.w, m.mean, m.M2) == pytest.approx((w, mean, M2))
    assert (tree.root.own, tree.root.examples) == (12.75, 4)
    assert (tree.root.lo[0], tree.root.hi[0]) == (-1.0, 4.0)


def test_empty_tree_and_ties():
    tree = make_tree(4, ["numeric"], [0])
    assert tree.predict([0.0], lambda: 0.6) == 2
    assert tree.score([0.0]) == 0.5
    for label in (3, 1):
        tree.learn([0.0], label, 1.5)
    assert [tree.predict([0.0], lambda u=u: u) for u in (0.2, 0.7)] == [3, 1]


def test_split_hands_its_class_weights_down():
    tree = make_tree(2, ["nominal"], [3])
    for t in range(40):
        tree.learn([t % 2], t % 2, 1.0)
    expected = [{"classes": [(0, 20.0)]}, {"classes": [(1, 20.0)]}, {"classes": []}]
    # One split attempt at weight 20 finds a clean rule; 10 of each pass on.
    assert tree.shape()["children"] == expected
    assert tree.root.children[2].fallback == 0
    assert tree.predict([2.0], never) == 0
    assert [child.own for child in tree.root.children] == [10.0, 10.0, 0.0]


# Boosters on an easy stream


def easy_example(t):
    """Three labels by one number, and a column that says nothing."""
    x = [number(t, 0), number(t, 1)]
    return x, math.floor(3 * x[0])


def easy_trees(N, k=3):
    return [make_tree(k, ["numeric", "numeric"], [0, 0]) for _ in range(N)]


def play(model, rounds):
    """Share of right answers in the last third."""
    right = []
    for t in range(rounds):
        x, y = easy_example(t)
        if hasattr(model, "decide"):
            decision = model.decide(x)
            model.learn(decision, x, decision.ytilde == y)
        else:
            decision = model.step(x, y)
        right.append(decision.ytilde == y)
    last = right[-rounds // 3 :]
    return sum(last) / len(last)


@pytest.mark.parametrize(
    "model",
    [
        boosters.AdaBandit(3, easy_trees(5), 0.1, SEED),
        boosters.AdaBandit(3, easy_trees(5), 0.1, SEED, estimator=3),
        boosters.OptBandit(3, easy_trees(5), 0.1, 0.1, SEED),
        boosters.AdaFull(3, easy_trees(5), SEED),
        boosters.OptFull(3, easy_trees(5), 0.1, SEED),
        boosters.BinBandit(3, 4, lambda _number: easy_trees(1, 2)[0], 0.1, 0.1, SEED),
    ],
    ids=["ada", "ada-eq3", "opt", "adafull", "optfull", "bin"],
)
def test_booster_beats_chance_clearly(model):
    assert play(model, 900) > 0.7


def test_first_round_of_adabandit_by_hand():
    """All alpha = 0: costs are 1/2 off the diagonal, -(k-1)/2 on it."""
    taught = []

    class Recorder:
        def predict(self, _x, _u):
            return 1

        def learn(self, _x, label, weight):
            taught.append((label, weight))

    model = boosters.AdaBandit(3, [Recorder(), Recorder()], 0.2, SEED)
    decision = next(d for d in (model.decide([]) for _ in range(99)) if d.p == 0.8)
    model.learn(decision, [], True)
    # chat = C (1 - lhat) = C_y - 0.25 (C_r + C_q), and columns sum to zero.
    assert taught == [(decision.ytilde, pytest.approx(3.75))] * 2
    wrong = [label != decision.ytilde for label in decision.experts]
    lowest = min(wrong)
    assert model.logv == [-1.25 * (w - lowest) for w in wrong]
    vector = [1.0 if label == decision.ytilde else -0.25 for label in range(3)]
    slope = 0.5 * (vector[0] + vector[2]) - vector[1]
    assert model.alpha == pytest.approx([-0.2 / 9 * slope] * 2)


def test_late_feedback_uses_what_was_decided():
    model = boosters.AdaBandit(3, easy_trees(3), 0.3, SEED)
    rows = [easy_example(t)[0] for t in range(40)]
    decisions = [model.decide(x) for x in rows]
    for t in reversed(range(40)):
        before, decision = list(model.alpha), decisions[t]
        model.learn(decision, rows[t], correct=t % 3 == 0)
        lhat = boosters.estimate_4(3, decision.yhat, decision.ytilde, decision.p, t % 3 == 0)
        eta = 0.3 / (9 * math.sqrt(40 - t))
        for i in range(3):  # alpha was 0 at the time of every decision
            slope = boosters.fhat_derivative([0.0] * 3, decision.h[i], 0.0, [1 - loss for loss in lhat])
            assert model.alpha[i] == pytest.approx(before[i] - eta * slope)
    assert model.verdicts == 40
    assert model.round == 40


def test_binbandit_makes_groups_in_order_of_verdicts():
    made = []

    def make_learner(tree_number):
        made.append(tree_number)
        return easy_trees(1, 2)[0]

    model = boosters.BinBandit(3, 2, make_learner, 0.5, 0.1, SEED)
    for t in range(30):
        x, y = easy_example(t)
        decision = model.decide(x)
        model.learn(decision, x, decision.ytilde == y)
    assert made == [0, 1, 2, 3, 4, 5]
    for log_alpha in model.log_alpha.values():
        assert sum(math.exp(a) for a in log_alpha) == pytest.approx(1)
