"""OptionBoost in plain loops: GapBoost's chain with one label, over joint rows of a context and an option.

What the specification leaves open, and how it is read here:
- a joint row is coded as one row; of_options says of each of its numbers whether it is an option's;
- the first diagonal of the inverse is that of the moment at which a place came to be: `grow` is called
  when columns or values have joined.
"""

import math
from collections import namedtuple

from . import rng
from .gap import (
    BYTES_OF_RIDGE,
    LEAST_DOUBT,
    MEMORY,
    MOST_BIN_PAIRS,
    MOST_RIDGE_PRODUCTS,
    GapBoost,
    Ridge,
    all_pairs,
    clip,
    draw,
    first_best,
    is_column,
    own,
)

STEP = 0.1
HOPE = 1.0
GAMMA = 30
WIDEST = 1024
SHRINKAGE = 20
MOST_IDS = 2**17
BYTES_OF_ID = 24

OptionDecision = namedtuple("OptionDecision", "round score alone hope P yhat ytilde p row id")


class GroupRidge(Ridge):
    """A regression whose inverse begins with a diagonal."""

    def __init__(self):
        super().__init__()
        self.first = {}  # place -> number of the diagonal

    def entry(self, p, q):
        return self.inverse.get((p, q), self.first[p] if p == q else 0.0)


class OptionBoost(GapBoost):
    def __init__(
        self, N, make_learner, kinds, n_values, of_options, seed, slots=None, max_memory=256 * 2**20
    ):
        super().__init__(1, N, make_learner, kinds, n_values, seed, slots, max_memory)
        self.step = STEP
        self.ids = {}  # place -> [id's number, count, sum]
        self.make_group(0)
        self.narrow[0], self.wide[0] = GroupRidge(), GroupRidge()
        self.of_options = of_options
        self.grow()

    def grow(self):
        """Columns or values have joined: kinds, n_values and of_options have grown."""
        self.pair_memo = {}
        first = self.narrow[0].first
        n_own = sum(1 for c in self.real() if self.of_options[c])
        n_others = len(self.real()) - n_own
        width = self.width()
        first.setdefault("constant", 1.0)
        for c in self.real():
            for code in range(width[c]):
                first.setdefault((c, code), 1.0 / max(1, n_own if self.of_options[c] else n_others))
        for i, j in self.across():
            for code_i in range(width[i]):
                for code_j in range(width[j]):
                    first.setdefault((i, j, code_i, code_j), 1.0 / (n_own * n_others))
        self.wide[0].first.update({place: d for place, d in first.items() if place not in self.wide[0].first})
        triples = self.triples()
        for i, j, c in triples:
            for code_i in range(width[i]):
                for code_j in range(width[j]):
                    for code in range(width[c]):
                        place = (i, j, c, code_i, code_j, code)
                        self.wide[0].first.setdefault(place, 1.0 / len(triples))

    def triples(self):
        """Two columns of the context and one of options; a number has a pair with itself."""
        found = []
        for j in self.real():
            for i in self.real():
                for c in self.real():
                    pair = i < j or (i == j and self.kinds[i] == "numeric")
                    if pair and self.of_options[c] and not self.of_options[i] and not self.of_options[j]:
                        found.append((i, j, c))
        return found

    def real(self):
        return [c for c, kind in enumerate(self.kinds) if is_column(kind)]

    def across(self):
        """Pairs of a column of the context and one of options."""
        return [(i, j) for i, j in all_pairs(self.kinds) if self.of_options[i] != self.of_options[j]]

    def bin_pairs(self):
        """Pairs with a numeric column and one of options, or none."""
        pairs = [
            (i, j)
            for i, j in all_pairs(self.kinds)
            if "numeric" in (self.kinds[i], self.kinds[j]) and (self.of_options[i] or self.of_options[j])
        ]
        return pairs if len(pairs) <= MOST_BIN_PAIRS else []

    def features(self, x):
        self.pair_memo[len(self.kinds)] = self.across(), self.bin_pairs()
        columns, triples = self.columns(x), []
        for i, j, c in self.triples():
            found = columns[i], columns[j], columns[c]
            if None not in found:
                value = found[0].value * found[1].value * found[2].value
                if value != 0:
                    triples.append(((i, j, c, *(one.code for one in found)), value))
        return {**super().features(x), "triples": triples}

    # The regression

    def n_joint(self):
        """Slots of the regression: those of stage 1, and of the products if there is room."""
        width = self.width()
        n_products = sum(width[i] * width[j] for i, j in self.across())
        reads_products = n_products <= self.slots and 1 + sum(width) + n_products <= WIDEST
        return 1 + sum(width) + (n_products if reads_products else 0), reads_products

    def has_narrow(self):
        n, reads_products = self.n_joint()
        quick = reads_products or (len(self.kinds) + 1) ** 2 <= MOST_RIDGE_PRODUCTS
        return quick and n * n <= self.max_memory // BYTES_OF_RIDGE

    def has_wide(self):
        n, reads_products = self.n_joint()
        width, triples = self.width(), self.triples()
        for i, j, c in triples:
            n += width[c] if i == j else width[i] * width[j] * width[c]
        return (
            reads_products and len(triples) > 0 and n <= WIDEST and n * n <= self.max_memory // BYTES_OF_RIDGE
        )

    def read_wide(self, features):
        return self.read(features) + features["triples"]

    def look_for_change(self, decision, reward, p):
        """It does not look for changes."""

    def wide_rests(self, features, u):  # noqa: ARG002 (never)
        return False

    def teach_wide(self, a, features, answer, y):
        """It learns every verdict at once."""
        self.wide[a].learn(self.read_wide(features), y - answer)

    def read(self, features):
        return own(features[1]) + (features[2] if self.n_joint()[1] else [])

    # Decide

    def own_part(self, number):
        """What is special to an id."""
        name, count, total = self.ids.get(self.place_of(number), (None, 0, 0.0))
        return total / (count + SHRINKAGE) if number >= 0 and name == number else 0.0

    def place_of(self, number):
        places = MOST_IDS
        while places * BYTES_OF_ID * 64 > self.max_memory:
            places //= 2
        return number % places

    def experts(self):
        """Weights of the experts, the same for all options, and the least loss."""
        beside = ([self.L_narrow] if self.has_narrow() else []) + ([self.L_wide] if self.has_wide() else [])
        losses = [*self.L, *beside]
        u = [math.exp(min(self.L) - loss) for loss in self.L]
        u = [u_j / sum_up(u) for u_j in u]
        family = [math.exp(-0.3 * (min(self.L) - min(losses)))]
        family += [math.exp(-0.3 * (loss - min(losses))) for loss in beside]
        v = [family[0] * u_j for u_j in u] + family[1:]
        v = [v_j / sum_up(v) for v_j in v]
        v = [v_j if v_j >= 0.001 else 0.0 for v_j in v]
        return [v_j / sum_up(v) for v_j in v], min(losses)

    def score(self, x, v):
        features, total = self.features(x), 0.0
        kinds = ["narrow"] * self.has_narrow() + ["wide"] * self.has_wide()
        for kind, v_j in zip(kinds, v[3 + self.N :], strict=True):
            total += v_j * clip(self.regression_answer(kind, 0, features), -1, 1)
        F = self.prefixes(0, x, features)
        for j in range(3 + self.N):
            total += v[j] * clip(F[j + 1], -1, 1)
        return total

    def width_of(self, x):
        features, squared = self.features(x), 0.0
        for place, value in features[1]:
            if place[0] == "shared":
                squared += value * value / (1 + self.G[0, 1].get(place, 0.0))
        if self.has_narrow():
            squared += self.narrow[0].squared_width(self.read(features))
        return squared

    def decide(self, rows, numbers, allowed=None):
        """A joint row and the number of an id for each option."""
        round, self.round = self.round, self.round + 1
        rows = [self.completed(x) for x in rows]
        k = len(rows)
        allowed = range(k) if allowed is None else allowed
        v, least = self.experts()
        error = 2 * math.sqrt(least / min(max(self.V, 1), MEMORY))
        alone, score, hope = [0.0] * k, [0.0] * k, [0.0] * k
        for a in allowed:
            alone[a] = self.score(rows[a], v)
            score[a] = alone[a] + self.own_part(numbers[a])
            hope[a] = score[a] + HOPE * error * math.sqrt(self.width_of(rows[a]))
        best, P = self.gaps(hope, allowed)
        shown = draw(rng.uniform(self.seed, round, rng.EXPLORE, 0), best, P)
        believed = first_best(score, allowed)
        return OptionDecision(
            round, score, alone, hope, P, believed, shown, P[shown], rows[shown], numbers[shown]
        )

    def gaps(self, hope, allowed):
        best = first_best(hope, allowed)
        doubt = max((1 - hope[best]) / 2, LEAST_DOUBT)
        gamma = math.sqrt(self.V + 1) * GAMMA * len(allowed) / doubt
        P, others = [0.0] * len(hope), 0.0
        for a in allowed:
            if a != best:
                P[a] = 1 / (len(allowed) + gamma * (hope[best] - hope[a]) / 2)
                others += P[a]
        P[best] = 1 - others
        return best, P

    # Learn

    def learn(self, decision, reward):
        decision = decision._replace(row=self.completed(decision.row))
        super().learn(decision._replace(ytilde=0), decision.row, reward)
        if decision.id >= 0:
            place = self.place_of(decision.id)
            if self.ids.get(place, (None,))[0] != decision.id:
                self.ids[place] = [decision.id, 0, 0.0]
            self.ids[place][1] += 1
            self.ids[place][2] += 2 * reward - 1 - decision.alone[decision.ytilde]


def sum_up(v):
    total = 0.0
    for v_j in v:
        total += v_j
    return total
