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
    judged,
    own,
)

STEP = 0.1
HOPE = 1.0
GAMMA = 30
WIDEST = 1024
SHRINKAGE = 20
MOST_IDS = 2**17
BYTES_OF_ID = 24
HEDGE_RATE = 1
LINE_VARIANCE = 3
WIDEST_LINE = 256
MOST_LINES = 4096
FEWEST_LINES = 8
OFTEN = 20

OptionDecision = namedtuple("OptionDecision", "round score alone hope P yhat ytilde p row id")


class GroupRidge(Ridge):
    """A regression whose inverse begins with a diagonal."""

    def __init__(self):
        super().__init__()
        self.first = {}  # place -> number of the diagonal

    def entry(self, p, q):
        return self.inverse.get((p, q), self.first[p] if p == q else 0.0)


class Line(GroupRidge):
    """What is special to an id in a context, and after how many verdicts it was heard of last."""

    def __init__(self, first):
        super().__init__()
        self.first = dict(first)
        self.learned = 0


class OptionBoost(GapBoost):
    def __init__(
        self, N, make_learner, kinds, n_values, of_options, seed, slots=None, max_memory=256 * 2**20
    ):
        super().__init__(1, N, make_learner, kinds, n_values, seed, slots, max_memory)
        self.step = STEP
        self.ids = {}  # place -> [id's number, count, sum]
        self.lines = {}  # place -> Line
        self.L_lines = [0.0, 1.0]  # of scores with the mean, with the line
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
        self.pairs_of_lines = self.context_pairs()
        self.first_of_line = self.first_of_lines()
        for line in self.lines.values():
            for place, number in self.first_of_line.items():
                line.first.setdefault(place, number)
        while len(self.lines) > self.n_rooms():
            del self.lines[self.longest_ago()]
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

    # What is special to an id in a context

    def context_pairs(self):
        """All pairs of two columns of the context, if they are few."""
        width, pairs, n = self.width(), [], len(self.first_of_columns())
        for j in self.of_context():
            for i in self.of_context():
                if i < j or (i == j and self.kinds[i] == "numeric"):
                    pairs.append((i, j))
                    n += 1 if i == j else width[i] * width[j]
        return pairs if n <= WIDEST_LINE else []

    def of_context(self):
        return [c for c in self.real() if not self.of_options[c]]

    def first_of_columns(self):
        width, first = self.width(), {"constant": 1.0}
        for c in self.of_context():
            for code in range(width[c]):
                first[c, code] = min(1, LINE_VARIANCE / len(self.of_context()))
        return first

    def first_of_lines(self):
        """The diagonal that the inverse of a line begins with."""
        first, width, pairs = self.first_of_columns(), self.width(), self.pairs_of_lines
        for i, j in pairs:
            for code_i in range(width[i]):
                for code_j in range(width[j]):
                    if i != j or code_i == code_j == 0:
                        first[i, j, code_i, code_j] = min(1, LINE_VARIANCE / len(pairs))
        return first

    def n_rooms(self):
        n = len(self.first_of_line)
        rooms = self.max_memory // BYTES_OF_RIDGE // (8 * n * (n + 1))
        return min(MOST_LINES, rooms) if rooms >= FEWEST_LINES else 0

    def read_line(self, x):
        """The context's columns, and their products."""
        columns = self.columns(x)
        found = [one for one in self.singles(columns) if one[0] in self.first_of_line]
        for i, j in self.pairs_of_lines:
            if columns[i] is not None and columns[j] is not None:
                value = columns[i].value * columns[j].value
                if value != 0:
                    found.append(((i, j, columns[i].code, columns[j].code), value))
        return found

    def trust_in_lines(self):
        if self.n_rooms() == 0:
            return 0.0
        trust = 1 / (1 + math.exp(HEDGE_RATE * (self.L_lines[1] - self.L_lines[0])))
        return trust if trust >= 0.001 else 0.0

    def line_of(self, number):
        place = self.place_of(number)
        known = number >= 0 and self.ids.get(place, (None,))[0] == number
        return self.lines.get(place) if known else None

    def line_answer(self, number, x):
        line = self.line_of(number)
        return line.answer(self.read_line(x)) if line is not None else 0.0

    def line_square(self, number, x):
        """How unsure it is; of an id without a line that follows from how often it was learned."""
        if number < 0:
            return 0.0
        line, features, first = self.line_of(number), self.read_line(x), self.first_of_line
        if line is not None:
            return line.squared_width(features)
        name, count, _ = self.ids.get(self.place_of(number), (None, 0, 0.0))
        return sum(value * value * first[place] for place, value in features) / (
            1 + (count if name == number else 0)
        )

    def longest_ago(self):
        """The place whose line was heard of the longest ago."""
        return min(self.lines, key=lambda place: self.lines[place].learned)

    def teach_line(self, number, features, missed):
        """The id has just learned."""
        place = self.place_of(number)
        count = self.ids[place][1]
        if self.n_rooms() == 0:
            return
        if place in self.lines and count == 1:  # it was another id's
            self.lines[place] = Line(self.first_of_line)
        if place not in self.lines:
            full = len(self.lines) == self.n_rooms()
            if full and count < OFTEN:
                return
            if full:
                del self.lines[self.longest_ago()]
            self.lines[place] = Line(self.first_of_line)
        line = self.lines[place]
        line.learned = self.V
        line.learn(features, missed - line.answer(features))

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
        (v, least), trust = self.experts(), self.trust_in_lines()
        least = min(least, *self.L_lines)
        error = 2 * math.sqrt(least / min(max(self.V, 1), MEMORY))
        alone, score, hope = [0.0] * k, [0.0] * k, [0.0] * k
        for a in allowed:
            alone[a] = self.score(rows[a], v)
            mean = self.own_part(numbers[a])
            score[a] = alone[a] + mean
            square = self.width_of(rows[a])
            if trust > 0:
                score[a] += trust * (self.line_answer(numbers[a], rows[a]) - mean)
                square += trust * self.line_square(numbers[a], rows[a])
            hope[a] = score[a] + HOPE * error * math.sqrt(square)
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
        x, number, y = decision.row, decision.id, 2 * reward - 1
        alone = decision.alone[decision.ytilde]
        said = self.own_part(number), self.line_answer(number, x)
        features_of_line = self.read_line(x)  # with the statistics of before the lesson
        super().learn(decision._replace(ytilde=0), x, reward)
        self.L_lines = [judged(loss, alone + part, y) for loss, part in zip(self.L_lines, said, strict=True)]
        if number >= 0:
            place = self.place_of(number)
            if self.ids.get(place, (None,))[0] != number:
                self.ids[place] = [number, 0, 0.0]
            self.ids[place][1] += 1
            self.ids[place][2] += y - alone
            self.teach_line(number, features_of_line, y - alone)


def sum_up(v):
    total = 0.0
    for v_j in v:
        total += v_j
    return total
