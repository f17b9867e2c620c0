"""Truths about GapBoost's twin that can be checked by hand."""

import math

import pytest

from . import rng
from .gap import (
    ETA,
    LINEAR,
    MOST_PRODUCTS,
    STEP,
    GapBoost,
    GapDecision,
    Ridge,
    Statistics,
    all_pairs,
    bin_of,
    bin_pairs,
    draw,
    has_narrow_regressions,
    has_wide_regressions,
    most_slots,
    product_pairs,
)
from .tree import Tree

MIXED = ["numeric", "nominal", "numeric"]
VALUES = [0, 3, 0]
NAN = math.nan


class Constant:
    """A tree that always scores the same, and keeps what it is taught."""

    def __init__(self, score=0.5):
        self.answer, self.lessons = score, []

    def has_split(self):
        return True

    def score(self, _x):
        return self.answer

    def learn(self, _x, label, weight):
        self.lessons.append((label, weight))


def number(round, index=0):
    return rng.uniform(987, round, 63, index)


def shown(label):
    """A decision, as far as learning needs it."""
    return GapDecision(0, None, None, None, None, label, None)


def make_booster(k=3, N=2, kinds=MIXED, n_values=VALUES, make_learner=None, **options):
    def tree(_number):
        return Tree(2, kinds, n_values, 7, 0.1, 0.6)

    return GapBoost(k, N, make_learner or tree, kinds, n_values, 11, **options)


def row(t):
    """Numbers and a nominal code; every seventh value is missing."""
    x = [4 * number(t, 0) - 1, math.floor(3 * number(t, 1)), number(t, 2)]
    return [NAN if (t + c) % 7 == 0 else x[c] for c in range(3)]


def right_label(x):
    return 0 if math.isnan(x[0]) or x[0] < 0 else 1 if x[1] == 2 else 2


def played(n_rounds, **options):
    booster = make_booster(**options)
    for t in range(n_rounds):
        x = row(t)
        decision = booster.decide(x)
        booster.learn(decision, x, decision.ytilde == right_label(x))
    return booster


# Features


def statistics_of(values):
    statistics = Statistics()
    for v in values:
        statistics.add(v)
    return statistics


def test_statistics_are_mean_and_variance():
    values = [10.3, 8.0, 15.5, 11.0]
    statistics = statistics_of(values)
    mean = sum(values) / 4
    variance = sum((v - mean) ** 2 for v in values) / 4
    assert statistics.z(12.0, 4) == pytest.approx((12.0 - mean) / math.sqrt(variance))
    assert (statistics.z(1e6, 4), statistics.z(-1e6, 4)) == (4, -4)


def test_columns_that_are_mostly_0_count_from_0():
    statistics = statistics_of([0.0, 0.0, 0.0, 1.0])
    assert statistics.z(0.0, 4) == 0
    assert statistics.z(1.0, 4) == pytest.approx(1 / math.sqrt(3 / 16))
    assert (statistics.z(1e6, 4), statistics.z(-1e6, 4)) == (4, -4)


def test_columns_that_are_0_in_half_of_their_rows_count_from_the_mean():
    statistics = statistics_of([0.0, 0.0, 2.0, 2.0])
    assert (statistics.z(0.0, 4), statistics.z(2.0, 4), statistics.z(-0.5, 4)) == (-1, 1, -1.5)
    assert statistics_of([-1.0, 1.0, 2.0, 2.0]).z(1.0, 4) == 0


def test_columns_that_most_rows_lack_count_from_0_in_units_of_the_root_mean_square():
    statistics = statistics_of([NAN, NAN, NAN, 1.0, NAN, 7.0, NAN])  # mean 4, deviation 3
    assert statistics.z(7.0, 4) == 1
    assert statistics.z(7.0, 9) == 1
    statistics.add(NAN)
    assert statistics.z(5.0, 5) == pytest.approx(1.0)
    assert (statistics.z(0.0, 5), statistics.z(99.0, 5)) == (0, 4)


def test_without_spread_z_is_zero_if_all_rows_had_the_value():
    assert Statistics().z(3.0, 0) == 0
    assert statistics_of([3.0, 3.0]).z(8.0, 2) == 0
    assert statistics_of([0.0, 0.0]).z(8.0, 3) == 0


def test_without_spread_the_value_is_the_unit_if_some_rows_lacked_it():
    statistics = statistics_of([-3.0, -3.0])
    assert (statistics.z(-3.0, 3), statistics.z(6.0, 3), statistics.z(-99.0, 3)) == (-1, 2, -4)


def test_bins_are_half_a_deviation_wide_and_centred():
    zs = [-4, -2.26, -2.25, -0.26, -0.25, 0, 0.24, 0.25, 1, 2.24, 2.25, 4]
    assert [bin_of(z) for z in zs] == [0, 0, 1, 4, 5, 5, 5, 6, 7, 9, 10, 10]


def after_two_rows():
    """Column 0 has seen 1 and 3 (mean 2, deviation 1), column 2 has seen 5 twice."""
    booster = make_booster()
    booster.learn(shown(0), [1.0, 0.0, 5.0], True)
    booster.learn(shown(0), [3.0, 1.0, 5.0], True)
    return booster


def test_features_by_hand():
    features = after_two_rows().features([3.5, 2.0, 5.0])  # z = 1.5 and 0
    assert features[1] == [("constant", 1.0), ((0, 0), 1.5), ((1, 2), 1.0)]
    assert features[2] == [
        ((0, 0, 0, 0), 2.25),
        ((0, 1, 0, 2), 1.5),
    ]  # 0 x 0 and 0 x 1; all with column 2 are 0
    assert features[3] == [  # column 0 in bin 8, column 2 in bin 5; column 1 has no bin of its own
        ((0, 0, 8, 8), 1.0),
        ((0, 1, 8, 2), 1.0),
        ((0, 2, 8, 5), 1.0),
        ((1, 2, 2, 5), 1.0),
        ((2, 2, 5, 5), 1.0),
    ]


def test_missing_values_have_no_features():
    booster = after_two_rows()
    features = booster.features([NAN, 2.0, NAN])
    assert features == {1: [("constant", 1.0), ((1, 2), 1.0)], 2: [], 3: []}
    assert booster.features([3.5, NAN, NAN])[3] == [((0, 0, 8, 8), 1.0)]


def test_hashed_slots_by_hand():
    """The same row with room for 8 slots only: 1 + 3 + 1 + 3 + 1 = 9 products and 11 + 33 + 121 + 33 + 11
    bins are too many.
    """
    booster = after_two_rows()
    booster.slots = 8
    features = booster.features([3.5, 2.0, 5.0])
    products = [0, 1 + 2]
    bins = [8, 11 + 8 * 3 + 2, 44 + 8 * 11 + 5, 165 + 2 * 11 + 5, 198 + 5]
    assert features[1][1] == ((0, 0), 1.5)
    assert features[2] == [
        (rng.mix(slot + 1) % 8, value) for slot, value in zip(products, [2.25, 1.5], strict=True)
    ]
    assert features[3] == [(rng.mix(slot + 1) % 8, 1.0) for slot in bins]
    booster.slots = 9
    assert booster.features([3.5, 2.0, 5.0])[2][1][0] == (0, 1, 0, 2)


def test_hashed_slot_of_two_nominal_columns():
    booster = make_booster(kinds=["nominal"] * 2, n_values=[3, 5], slots=8)
    assert booster.features([2.0, 4.0])[2] == [(rng.mix(2 * 5 + 4 + 1) % 8, 1.0)]


def test_pairs_are_ordered_by_their_larger_column():
    assert all_pairs(MIXED) == [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)]
    assert all_pairs(["nominal"] * 3) == [(0, 1), (0, 2), (1, 2)]
    assert all_pairs([*MIXED, "numeric"])[:5] == all_pairs(MIXED)


def test_pairs_of_bins_are_for_few_columns():
    assert bin_pairs(MIXED) == all_pairs(MIXED)
    assert bin_pairs(["nominal", "nominal", "numeric"]) == [(0, 2), (1, 2), (2, 2)]
    assert len(bin_pairs(["numeric"] * 27)) == 378
    assert bin_pairs(["numeric"] * 28) == []


def test_too_many_pairs_are_drawn():
    assert len(product_pairs(["numeric"] * 90, 11)) == 4095
    kinds = ["numeric"] * 92
    pairs = all_pairs(kinds)
    kept = product_pairs(kinds, 11)
    assert len(kept) == MOST_PRODUCTS
    u = {pair: rng.uniform(11, 0, rng.PAIR, place) for place, pair in enumerate(pairs)}
    assert max(u[pair] for pair in kept) < min(u[pair] for pair in set(pairs) - set(kept))
    assert kept == [pair for pair in pairs if pair in set(kept)]
    assert kept != product_pairs(kinds, 12)


def test_slots_are_bounded_by_memory():
    assert [most_slots(k) for k in (2, 256, 257, 512, 1000)] == [16384, 16384, 8192, 8192, 4096]


# Deciding


def test_without_verdicts_all_labels_are_alike():
    decision = make_booster(k=4).decide([1.0, 2.0, NAN])
    assert decision.score == [0.0] * 4
    assert decision.P == [0.25] * 4
    assert decision.yhat == 0


def test_an_unlearned_label_scores_zero():
    booster = make_booster()
    booster.learn(shown(1), row(1), False)
    decision = booster.decide(row(2))
    assert decision.score[0] == decision.score[2] == 0 > decision.score[1]
    assert decision.hope[0] == decision.hope[2] > decision.hope[1] > decision.score[1]
    assert list(booster.groups) == [1]


def test_probabilities_sum_to_one_and_the_best_has_its_share():
    booster = played(60)
    for t in range(60, 120):
        decision = booster.decide(row(t))
        assert sum(decision.P) == pytest.approx(1)
        assert min(decision.P) > 0
        assert decision.P[decision.hope.index(max(decision.hope))] == max(decision.P) >= 1 / 3
        assert decision.score[decision.yhat] == max(decision.score)
        assert decision.p == decision.P[decision.ytilde]


@pytest.mark.parametrize(("max_memory", "c"), [(64, 1), (2**28, 10)])
def test_inverse_gap_weighting_by_hand(max_memory, c):
    """Without ridge regressions, and with them."""
    booster = make_booster(max_memory=max_memory)
    booster.V = 3
    best, P = booster.probabilities([0.5, 0.0, -0.5], row(0))
    # doubt 1/4, gamma = c x 3 x 2 x 4 = 24 c
    assert best == 0
    assert P[1:] == [1 / (3 + c * 24 * 0.25), 1 / (3 + c * 24 * 0.5)]
    assert P[0] == pytest.approx(1 - sum(P[1:]))


def test_doubt_is_bounded_and_ties_go_to_the_first_label():
    booster = make_booster(max_memory=64)
    best, P = booster.probabilities([-1.0, 1.0, 1.0], row(0))
    assert best == 1
    assert P[0] == pytest.approx(1 / (3 + 300))
    assert P[2] == pytest.approx(1 / 3)


def test_draw():
    P = [0.25, 0.5, 0.25]
    assert [draw(u, 1, P) for u in (0, 0.24, 0.25, 0.49, 0.5, 0.99)] == [0, 0, 2, 2, 1, 1]


def test_deciding_changes_the_round_only():
    booster = played(30)
    x = row(30)
    first, second = booster.decide(x), booster.decide(x)
    assert second.round == first.round + 1
    assert first.score == second.score
    assert first.P == second.P


# Learning


def test_first_lesson_by_hand():
    """All features of a first row are the constant, a code and bins: values 1."""
    booster = make_booster(kinds=["nominal"], n_values=[2], make_learner=lambda _: Constant())
    booster.learn(shown(2), [1.0], False)
    # e = -1, G = 1 twice, Q / V = 2, h = 2 r
    r = STEP / math.sqrt(2)
    moved = -(1 - math.exp(-2 * r))
    assert booster.dot(2, 1, booster.features([1.0])[1]) == pytest.approx(moved)
    assert booster.W[2, 1]["constant"] == pytest.approx(moved / 2)
    assert booster.dot(2, 1, booster.features([0.0])[1]) == pytest.approx(moved / 2)
    assert booster.G[2, 1] == {"constant": 1.0, (0, 1): 1.0}
    assert booster.Q == {1: 2.0, 2: 0.0, 3: 0.0}
    assert booster.W[2, 2] == booster.W[2, 3] == {}  # one nominal column has no pairs


def test_steps_are_in_units_of_the_mean_squared_norm():
    """Rows of squared norm 1 and 2 under two labels: the second lesson's step has Q / V = 3 / 2."""
    booster = make_booster(kinds=["nominal"], n_values=[2], make_learner=lambda _: Constant())
    booster.learn(shown(2), [NAN], False)
    booster.learn(shown(1), [0.0], True)
    r = STEP / math.sqrt(1.5)
    assert booster.dot(1, 1, booster.features([0.0])[1]) == pytest.approx(1 - math.exp(-2 * r))


def test_a_linear_step_never_passes_the_target():
    booster = make_booster()
    moved = 0
    for t in range(200):
        x, a, y = row(t), t % 3, 1 if number(t, 5) < 0.5 else -1
        if a in booster.groups:
            features = booster.features(x)
            F = booster.prefixes(a, x, features)
            before = {m: booster.dot(a, m, features[m]) for m in LINEAR}
        booster.learn(shown(a), x, y == 1)
        if t < 3:
            continue
        for m in LINEAR:
            step = booster.dot(a, m, features[m]) - before[m]  # the features as they were taught
            if y * F[m] >= 1:
                assert step == 0
            else:
                assert 0 <= y * step <= y * (y - F[m]) * (1 + 1e-12)
                moved += step != 0
    assert moved > 300


def chain(scores):
    """One label's chain with given trees, and linear stages that have learned nothing."""
    trees = [Constant(score) for score in scores]
    booster = make_booster(
        k=2, N=len(scores), kinds=["nominal"], n_values=[2], make_learner=lambda number: trees[number]
    )
    return booster, trees


@pytest.mark.parametrize("correct", [True, False])
def test_trees_are_taught_with_the_hinge_of_the_prefix_before_them(correct):
    booster, trees = chain([1.0, 0.75, 0.0])
    booster.learn(shown(0), [NAN], correct)
    y = 1 if correct else -1
    before = [0.0, ETA, ETA + ETA / 2]
    for tree, F in zip(trees, before, strict=True):
        assert tree.lessons == [(int(correct), pytest.approx(1 - y * F))]


def test_trees_after_a_sure_prefix_are_not_taught():
    booster, trees = chain([1.0] * 7)
    booster.learn(shown(0), [NAN], True)
    assert [len(tree.lessons) for tree in trees] == [1] * 5 + [0, 0]


def test_a_tree_with_next_to_no_weight_is_not_taught():
    for score, taught in ((0.99875, False), (0.995, True)):  # weights of the sixth tree: 0.0005 and 0.002
        booster, trees = chain([1.0] * 4 + [score, 0.5])
        booster.learn(shown(0), [NAN], True)
        assert bool(trees[5].lessons) == taught


def test_losses_of_prefixes():
    booster, _ = chain([1.0, 0.0])
    booster.learn(shown(0), [NAN], True)
    first = [
        0.25,
        0.25,
        0.25,
        0.998 + 0.16,
        0.998 + 0.25,
    ]  # ((1 - F) / 2)^2 with F = 0, 0, 0, 0.2, 0; trees begin with 1
    losses = booster.L
    assert losses == pytest.approx(first)
    F1 = booster.dot(0, 1, [("constant", 1.0)])
    booster.learn(shown(0), [NAN], False)
    F = [F1, F1, F1, F1 + ETA, F1]
    assert losses == pytest.approx([0.998 * first[j] + ((1 + F[j]) / 2) ** 2 for j in range(5)])


def test_scores_beyond_the_scale_are_clipped():
    booster, _ = chain([1.0] * 20)
    booster.learn(shown(1), [NAN], True)
    F = booster.prefixes(1, [NAN], booster.features([NAN]))
    assert F[-1] > 4
    assert booster.L[-1] == pytest.approx(0.998)  # what it began with, and no error
    assert booster.scores([NAN])[1] <= 1


def test_expert_weights_favour_small_losses():
    booster = make_booster(N=1)
    booster.L, booster.L_narrow, booster.L_wide = [1.0, 1.5, 1.0, 3.0], 1.0, 6.0
    v = booster.expert_weights(booster.features(row(2)))
    assert sum(v) == pytest.approx(1)
    assert v[0] == v[2]
    assert v[1] / v[0] == pytest.approx(math.exp(-0.5))
    assert v[3] / v[0] == pytest.approx(math.exp(-2))
    assert v[4] == pytest.approx(sum(v[:4]))  # as good as the best prefix, so it counts as much as the chain
    assert v[5] / v[4] == pytest.approx(math.exp(-1.5))


def test_trees_are_numbered_in_the_order_of_first_verdicts():
    made = []

    def make_learner(tree):
        made.append(tree)
        return Constant()

    booster = make_booster(N=2, make_learner=make_learner)
    for a in (2, 0, 2):
        booster.learn(shown(a), row(1), True)
    assert made == [0, 1, 2, 3]
    assert list(booster.groups) == [2, 0]


def test_columns_and_values_that_join_change_no_score():
    kinds, n_values = list(MIXED), list(VALUES)
    booster = played(60, kinds=kinds, n_values=n_values)
    before = [booster.scores(row(t)) for t in range(60, 80)]
    kinds.append("numeric")
    n_values.append(0)
    n_values[1] += 2
    assert [booster.scores([*row(t), NAN]) for t in range(60, 80)] == before
    assert booster.decide(row(80)).score == booster.scores([*row(80), NAN])


def test_it_learns():
    booster = played(400)
    right = 0
    for t in range(400, 500):
        right += booster.decide(row(t)).yhat == right_label(row(t))
    assert right > 85


# Ridge regression


def test_the_inverse_is_that_of_the_rows_and_the_weights_solve_them():
    """A = I + sum x x': A times the inverse is the unit matrix, and A w = sum y x."""
    places = ["constant", "a", "b"]
    ridge = Ridge()
    A = {(p, q): float(p == q) for p in places for q in places}
    b = dict.fromkeys(places, 0.0)
    for t in range(30):
        x, y = (
            {"constant": 1.0, "a": number(t, 1) - 0.5, "b": 3 * number(t, 2)},
            1 if number(t, 3) < 0.5 else -1,
        )
        ridge.learn(list(x.items()), y - ridge.answer(x.items()))
        for p in places:
            b[p] += y * x[p]
            for q in places:
                A[p, q] += x[p] * x[q]
    for p in places:
        assert sum(A[p, q] * ridge.w[q] for q in places) == pytest.approx(b[p], abs=1e-10)
        for q in places:
            assert sum(A[p, r] * ridge.entry(r, q) for r in places) == pytest.approx(float(p == q), abs=1e-10)
    assert ridge.squared_width([("b", 2.0), ("c", 3.0)]) == pytest.approx(4 * ridge.entry("b", "b") + 9)


def test_wide_rows_have_no_ridge_regression():
    for columns, labels, expected in ((417, 3, True), (418, 3, False), (6, 10_000, True), (7, 10_000, False)):
        assert has_narrow_regressions(labels, ["numeric"] * columns, [1] * columns, 2**28) == expected
    for memory in (64 * 2 * 41 * 41, 64 * 2 * 41 * 41 - 1):
        assert has_narrow_regressions(2, ["nominal"], [40], memory) == (memory % 64 == 0)
    booster = make_booster(max_memory=64)
    booster.learn(shown(1), row(1), False)
    decision = booster.decide(row(2))
    assert decision.hope == decision.score
    assert len(booster.expert_weights(booster.features(row(2)))) == 3 + booster.N


def test_experts_with_next_to_no_weight_do_not_count():
    booster = make_booster(N=1)
    booster.L, booster.L_narrow, booster.L_wide = [0.0, 1.0, 3.0, 8.0], 10.0, 40.0
    prefixes = [math.exp(-loss) for loss in (0, 1, 3, 8)]
    chain = sum(prefixes)
    kept = [e / chain for e in prefixes[:3]], math.exp(-3)  # exp(-8) and exp(-12) are below 0.001 of the sum
    total = sum(kept[0]) + kept[1]
    assert booster.expert_weights(booster.features(row(2))) == pytest.approx(
        [*(e / total for e in kept[0]), 0.0, kept[1] / total, 0.0]
    )


def test_wide_regressions_need_room():
    assert has_wide_regressions(4, ["numeric"] * 20, [1] * 20, 2**28, 16384)  # 1 + 20 + 210
    assert not has_wide_regressions(4, ["numeric"] * 22, [1] * 22, 2**28, 16384)  # 276
    assert has_wide_regressions(3, ["nominal", "numeric"], [4, 1], 64 * 3 * 11 * 11, 5)  # 1 + 4 + 1 and 4 + 1
    assert not has_wide_regressions(3, ["nominal", "numeric"], [4, 1], 64 * 3 * 11 * 11 - 1, 5)
    assert not has_wide_regressions(3, ["nominal", "numeric"], [4, 1], 64 * 3 * 11 * 11, 4)


def test_wide_regressions_learn_only_what_is_short_of_the_verdict():
    booster = make_booster(N=1)
    for t in range(30):
        booster.learn(shown(1), row(t), True)
    before = dict(booster.wide[1].w)
    booster.wide[1].w["constant"] += 2.0
    booster.learn(shown(1), row(30), True)
    assert booster.wide[1].w == {**before, "constant": before["constant"] + 2.0}
    features = booster.features(row(31))
    answer = booster.wide[1].answer(features[1] + features[2])
    waiting = len(booster.wide[1].waiting)
    booster.learn(shown(1), row(31), False)
    assert len(booster.wide[1].waiting) == (waiting + 1) % 4  # 31 verdicts: one in eight waits
    while booster.wide[1].waiting:
        booster.learn(shown(1), row(31), False)
    assert -1 <= booster.wide[1].answer(features[1] + features[2]) < answer
