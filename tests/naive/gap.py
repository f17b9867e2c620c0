"""GapBoost in plain loops: a chain of stages for each label, weighted prefixes, inverse gap weighting.

Beside the chains, where rows are narrow: two regressions for each label, a narrow one on the
columns and a wide one on columns and products.

Stages are counted from 1 as in the specification: 1 single columns, 2 products of pairs,
3 pairs of bins, 4 .. 3 + N trees. F[m] is the sum of the first m stages, F[0] = 0.

What the specification leaves open, and how it is read here:
- 'at most 400 pairs' counts the pairs of bins, those with at least one numeric column;
- pairs are numbered from 0, in the order of the whole list, before any are drawn;
- two features of a row that share a hashed slot are two features, one after the other;
- Welford's update is mean += delta / count, squares += delta (v - new mean);
- kinds are those of the numbers of a coded row: 'numeric', 'nominal', 'word' and 'weight', a word's
  weight coming after it; a code of 2^32 or more is that of a name without a place of its own;
- a weight that is not hashed belongs to its columns and values, not to a slot's number, so
  columns and values may join; a stage that needs hashing only since then is not spelled out.
"""

import math
from collections import namedtuple

from . import rng

ETA = 0.2
STEP = 0.35
LEAST_NORM = 1e-20
LEAST_VARIANCE = 1e-300
Z_LIMIT = 4.0
BIN_WIDTH = 0.5
N_BINS = 11
MOST_PRODUCTS = 4096
MOST_BIN_PAIRS = 400
MOST_SLOTS = 16384
BYTES_OF_SLOT = 32
HEDGE_RATE = 1.0
FAMILY_RATE = 0.3
MEMORY = 500
LEAST_EXPERT = 0.001
FAR_BEHIND = 8
AWAKE = 2
MOST_WAITING = 8
FIRST_LOSS = 1.0
OPTIMISM, OPTIMISM_ANEW = 0.2, 0.5
GAMMA, GAMMA_WITH_HOPE = 1, 10
MOST_RIDGE_PRODUCTS = 2**19
BYTES_OF_RIDGE = 64
WIDEST = 256
MOST_GAMMA = 700
LEAST_DOUBT = 0.01
FALLS = (1.5, 3)
RISE = 8
FALL_ALARM, RISE_ALARM = 10, 5
CAUTION = 10
LEAST_EXPECTED = 0.01
RISES_AFTER = 5000
LITTLE = 1
KNOWN_BEFORE = 4
MOST_EAGER = 512
PATIENCE = 2
TRUST_PRIOR = 2
UNTOLD = 0.1
LEAST_WEIGHT = 0.001
LINEAR = (1, 2, 3)
SHARED = 2**32
MOST_PLACES = 2**18
FEW_VALUES = 8

GapDecision = namedtuple("GapDecision", "round score hope P yhat ytilde p")
Column = namedtuple("Column", "value code bin")  # of a value that is present


def clip(value, low, high):
    return max(low, min(high, value))


# Columns to features


def all_pairs(kinds):
    """(i, j), i <= j, by j and then i; i = j for numeric columns only. Words have none."""
    pairs = []
    for j in range(len(kinds)):
        for i in range(j + 1):
            if is_column(kinds[i]) and is_column(kinds[j]) and (i < j or kinds[j] == "numeric"):
                pairs.append((i, j))
    return pairs


def is_column(kind):
    return kind in ("numeric", "nominal")


def n_slots(kind, n, declared):
    """Of a column in stage 1: one for a number, else one for each value; more than 8 values that were not all
    declared have a power of two.
    """
    if kind == "numeric":
        return 1
    if n <= max(FEW_VALUES, declared):
        return n
    slots = 1
    while slots < n:
        slots *= 2
    return slots


def most_places(k, max_memory=256 * 2**20):
    """The places that names and words share: a power of two, so that eight lanes for each eight labels take
    no more than a quarter of the memory.
    """
    places = MOST_PLACES
    while 16 * 8 * math.ceil(k / 8) * places > max_memory / 4:
        places //= 2
    return places


def product_pairs(kinds, seed):
    """Stage 2: all pairs, or the 4,096 with the smallest numbers, kept in order."""
    pairs = all_pairs(kinds)
    if len(pairs) <= MOST_PRODUCTS:
        return pairs
    drawn = sorted((rng.uniform(seed, 0, rng.PAIR, number), number) for number in range(len(pairs)))
    return [pairs[number] for number in sorted(number for _, number in drawn[:MOST_PRODUCTS])]


def bin_pairs(kinds):
    """Stage 3: all pairs with a numeric column, or none."""
    pairs = [(i, j) for i, j in all_pairs(kinds) if "numeric" in (kinds[i], kinds[j])]
    return pairs if len(pairs) <= MOST_BIN_PAIRS else []


def most_slots(k, max_memory=256 * 2**20):
    """The bound of stages 2 and 3 for one label: a power of two, less if k labels would fill half the
    memory.
    """
    slots = MOST_SLOTS
    while BYTES_OF_SLOT * slots * k > max_memory / 2:
        slots //= 2
    return slots


def n_product_slots(kinds, width):
    return sum(width[i] * width[j] for i, j in all_pairs(kinds))


def has_narrow_regressions(k, kinds, width, max_memory):
    """Whether the inverses of k labels, m x m for m slots of stage 1, stay within bounds; a row has one
    feature for each column.
    """
    m = 1 + sum(width)
    return k * m * m <= max_memory // BYTES_OF_RIDGE and k * (len(kinds) + 1) ** 2 <= MOST_RIDGE_PRODUCTS


def has_wide_regressions(k, kinds, width, max_memory, slots):
    """The same for the slots of stages 1 and 2, none of them hashed."""
    n_products = n_product_slots(kinds, width)
    m = 1 + sum(width) + n_products
    return m <= WIDEST and n_products <= slots and k * m * m <= max_memory // BYTES_OF_RIDGE


class Ridge:
    """Regression of y on features, with the inverse of I + sum x x' over the rows learned kept up to date."""

    def __init__(self):
        self.w = {}  # place -> weight
        self.inverse = {}  # (place, place) -> number; those of a unit matrix are left out

    def forget(self):
        """What was learned counts as much as a few rows; the rest is as at the beginning."""
        self.inverse = {(p, p): 1 / KNOWN_BEFORE for p, weight in self.w.items() if weight != 0}

    def entry(self, p, q):
        return self.inverse.get((p, q), 1.0 if p == q else 0.0)

    def answer(self, features):
        total = 0.0
        for place, value in features:
            total += self.w.get(place, 0.0) * value
        return total

    def times_row(self, features, places):
        """inverse x, at these places."""
        product = {}
        for q in places:
            product[q] = 0.0
            for place, value in features:
                product[q] += value * self.entry(place, q)
        return product

    def squared_width(self, features):
        """x' inverse x; the inverse is symmetric."""
        total = 0.0
        for i, (place, value) in enumerate(features):
            below = 0.0
            for other, value_of_other in features[:i]:
                below += value_of_other * self.entry(place, other)
            total += value * (value * self.entry(place, place) + 2 * below)
        return max(0.0, total)

    def learn(self, features, error):
        places = list(dict.fromkeys([*self.w, *(place for place, _ in features)]))
        product = self.times_row(features, places)
        share = 1 / (1 + self.squared_width(features))
        for p in places:
            self.w[p] = self.w.get(p, 0.0) + share * error * product[p]
            for q in places:
                self.inverse[p, q] = self.entry(p, q) - share * product[p] * product[q]


class LateRidge(Ridge):
    """Rows wait, and are learned together: when there are eight, or one for every eight of the label's
    verdicts.
    """

    def __init__(self):
        super().__init__()
        self.waiting = []  # (features, goal)

    def hear(self, features, goal, n_verdicts):
        self.waiting.append((features, goal))
        if len(self.waiting) == MOST_WAITING or MOST_WAITING * len(self.waiting) >= n_verdicts:
            for row, wanted in self.waiting:
                self.learn(row, wanted - self.answer(row))
            self.waiting = []


class Belief:
    """The test for changes of one label: n, mu, S of each factor; of rounds in which it was not the greedy
    one m, nu, R.
    """

    def __init__(self):
        self.n, self.mu, self.S = 0, 0.0, [0.0] * len(FALLS)
        self.m, self.nu, self.R = 0, 0.0, 0.0

    def has_risen(self, r, p, counts):
        q = clip(p + self.nu, LEAST_EXPECTED, 1 - LEAST_EXPECTED)
        self.m += 1
        self.nu += (r - p - self.nu) / (self.m + CAUTION)
        if counts:
            self.R = max(0.0, self.R + log_ratio(r, q, 1 / RISE))
        if self.R > RISE_ALARM:
            self.R = 0.0
            return True
        return False

    def has_fallen(self, r, p):
        q = clip(p + self.mu, LEAST_EXPECTED, 1 - LEAST_EXPECTED)
        self.n += 1
        self.mu += (r - p - self.mu) / (self.n + CAUTION)
        self.S = [max(0.0, S + log_ratio(r, q, theta)) for S, theta in zip(self.S, FALLS, strict=True)]
        return max(self.S) > FALL_ALARM


def log_ratio(r, q, theta):
    """ln of the likelihood of r at odds q / (1 - q) / theta, over that at odds q / (1 - q)."""
    odds = q / (1 - q) / theta
    fallen = odds / (1 + odds)
    return r * math.log(fallen / q) + (1 - r) * math.log((1 - fallen) / (1 - q))


class Statistics:
    """Welford's count, mean and sum of squares of one numeric column, how many values were 0, and how many
    rows lacked it since the first value.
    """

    def __init__(self):
        self.count, self.mean, self.squares, self.zeros, self.missing = 0, 0.0, 0.0, 0, 0

    def add(self, v):
        if math.isnan(v):
            self.missing += 1 if self.count else 0
            return
        self.count += 1
        delta = v - self.mean
        self.mean += delta / self.count
        self.squares += delta * (v - self.mean)
        if v == 0:
            self.zeros += 1

    def z(self, v, V):
        """V verdicts have been learned, with or without a value in this column."""
        if self.squares <= self.count * LEAST_VARIANCE:  # it counts as constant
            if self.mean == 0 or self.count == V:
                return 0.0
            return clip(v / abs(self.mean), -Z_LIMIT, Z_LIMIT)
        deviation = math.sqrt(self.squares / self.count)
        if self.missing > self.count:
            return clip(v / math.sqrt(deviation * deviation + self.mean * self.mean), -Z_LIMIT, Z_LIMIT)
        if self.zeros > self.count / 2:
            return clip(v / deviation, -Z_LIMIT, Z_LIMIT)
        return clip((v - self.mean) / deviation, -Z_LIMIT, Z_LIMIT)


def bin_of(z):
    return clip(math.floor(z / BIN_WIDTH + 0.5), -5, 5) + 5


# The booster


class GapBoost:
    """make_learner(number) makes binary tree `number`; kinds and n_values may grow."""

    def __init__(self, k, N, make_learner, kinds, n_values, seed, slots=None, max_memory=256 * 2**20):
        self.k, self.N, self.make_learner, self.seed = k, N, make_learner, seed
        self.kinds, self.n_values = kinds, n_values
        self.slots = most_slots(k) if slots is None else slots
        self.max_memory = max_memory
        self.step = STEP
        self.narrow = {}  # label -> Ridge
        self.wide = {}
        self.L_narrow, self.L_wide = 0.0, FIRST_LOSS
        self.statistics = {}  # numeric column -> Statistics
        self.declared = list(n_values)
        self.shared = {}  # shared place -> (count, squares)
        self.last_name = {}  # shared place -> the name that was learned there last
        self.right = {}  # shared place -> its claims that were right
        self.expected = {}  # shared place -> how many were expected to be
        self.claims, self.right_claims = 0.0, 0.0  # of all places, lately
        self.groups = {}  # label -> N trees, in order of first rewards; of many labels, first ones above 0
        self.n_wrong = {}  # label without a group -> its verdicts
        self.heard = {}  # label -> its verdicts
        self.W = {}  # (label, stage) -> {place: weight}
        self.G = {}  # (label, stage) -> {place: sum of squared gradients}
        self.Q = dict.fromkeys(LINEAR, 0.0)
        self.V = 0
        self.L = [0.0] * 3 + [FIRST_LOSS] * N  # L[j - 1] is that of prefix j
        self.beliefs = {}  # label -> Belief, since the last change
        self.anew = set()  # labels that are learned anew since a change
        self.changes = []  # (V, label) of each change that was noticed
        self.round = 0
        self.pair_memo = {}  # number of columns -> the pairs of stages 2 and 3

    # Features: lists of (place, value)

    def columns(self, x):
        """A Column, or None where the value is missing, for every column known now."""
        found = []
        for c, kind in enumerate(self.kinds):
            if (
                c >= len(x)
                or math.isnan(x[c])
                or not is_column(kind)
                or (kind == "nominal" and x[c] >= SHARED)
            ):
                found.append(None)
            elif kind == "numeric":
                z = self.statistics.get(c, Statistics()).z(x[c], self.V)
                found.append(Column(z, 0, bin_of(z)))
            else:
                found.append(Column(1.0, int(x[c]), int(x[c])))
        return found

    def features(self, x):
        """Stage -> features, from the statistics as they are now."""
        columns = self.columns(x)
        n = len(self.kinds)
        if n not in self.pair_memo:
            self.pair_memo[n] = product_pairs(self.kinds, self.seed), bin_pairs(self.kinds)
        products, bins = self.pair_memo[n]
        return {
            1: self.names_and_words(x) + self.weighed(self.singles(columns)),
            2: self.products(columns, products),
            3: self.bins(columns, bins),
        }

    def shared_items(self, x):
        """(place, weight, name) of the names without a place of their own, and of the words, of a row; the
        weight of a name is 1, and the name of a word is None.
        """
        found = []
        for c, kind in enumerate(self.kinds):
            if c < len(x) and not math.isnan(x[c]):
                if kind == "nominal" and x[c] >= SHARED:
                    found.append((int(x[c]) % most_places(self.k, self.max_memory), 1.0, int(x[c])))
                elif kind == "word":
                    found.append((int(x[c]) % most_places(self.k, self.max_memory), x[c + 1], None))
        return found

    def names_and_words(self, x):
        """A weight counts in units of the root mean square at its place, times the squared quotient of right
        and expected claims; a name counts 1, if it was the last name that was learned there.
        """
        found = []
        for place, weight, name in self.shared_items(x):
            if name is not None:
                if self.last_name.get(place) == name:
                    found.append((("shared", place), 1.0))
                continue
            count, squares = self.shared.get(place, (0, 0.0))
            unit = math.sqrt(squares / count) if squares > count * LEAST_VARIANCE else abs(weight)
            trust = (self.right.get(place, 0.0) + TRUST_PRIOR) / (self.expected.get(place, 0.0) + TRUST_PRIOR)
            value = trust * trust * (weight / unit) if unit > 0 else 0.0
            found.append((("shared", place), clip(value, -Z_LIMIT, Z_LIMIT)))
        return found

    def width(self):
        """Slots of each number of a row in stage 1."""
        declared = self.declared + [0] * (len(self.kinds) - len(self.declared))
        return [
            n_slots(kind, n, d) if is_column(kind) else 0
            for kind, n, d in zip(self.kinds, self.n_values, declared, strict=True)
        ]

    def singles(self, columns):
        found = [("constant", 1.0)]
        for c, column in enumerate(columns):
            if column is not None and column.value != 0:
                found.append(((c, column.code), column.value))
        return found

    def weighed(self, found):
        """In rows too wide for regressions, a number counts by what its column tells all labels together."""
        real = [kind for kind in self.kinds if is_column(kind)]
        if len(all_pairs(real)) <= MOST_PRODUCTS or self.has_narrow():
            return found
        numeric = [c for c, kind in enumerate(self.kinds) if kind == "numeric"]
        telling = {}
        for c in numeric:
            telling[c] = 0.0
            for a in self.groups:
                weight = self.W[a, 1].get((c, 0), 0.0)
                telling[c] += weight * weight
        mean = sum(telling.values()) / len(numeric) if numeric else 0.0
        if not mean > 0:
            return found
        weighed = []
        for place, value in found:
            if place[0] in telling:
                share = math.sqrt(UNTOLD + (1 - UNTOLD) * (telling[place[0]] / mean))
                value = clip(share * value, -Z_LIMIT, Z_LIMIT)
            weighed.append((place, value))
        return weighed

    def products(self, columns, pairs):
        width = self.width()
        found, start = [], 0
        for i, j in pairs:
            if columns[i] is not None and columns[j] is not None:
                value = columns[i].value * columns[j].value
                if value != 0:
                    slot = start + columns[i].code * width[j] + columns[j].code
                    found.append(((i, j, columns[i].code, columns[j].code), slot, value))
            start += width[i] * width[j]
        return self.placed(found, start)

    def bins(self, columns, pairs):
        width = [N_BINS if kind == "numeric" else n for kind, n in zip(self.kinds, self.width(), strict=True)]
        found, start = [], 0
        for i, j in pairs:
            if columns[i] is not None and columns[j] is not None:
                offset = columns[i].bin if i == j else columns[i].bin * width[j] + columns[j].bin
                found.append(((i, j, columns[i].bin, columns[j].bin), start + offset, 1.0))
            start += width[i] if i == j else width[i] * width[j]
        return self.placed(found, start)

    def placed(self, found, needed):
        """Each feature at a place of its own, or at a hashed slot if they are too many."""
        if needed <= self.slots:
            return [(name, value) for name, _, value in found]
        return [(rng.mix(slot + 1) % self.slots, value) for _, slot, value in found]

    # Scores

    def dot(self, a, m, features):
        total = 0.0
        for place, value in features:
            total += self.W[a, m].get(place, 0.0) * value
        return total

    def prefixes(self, a, x, features):
        """[F_0, F_1, ..., F_{3 + N}] of a label with a group."""
        F = [0.0]
        for m in LINEAR:
            F.append(F[-1] + self.dot(a, m, features[m]))
        for tree in self.groups[a]:
            answer = ETA * (2 * tree.score(self.without_words(x)) - 1) if tree.has_split() else 0.0
            F.append(F[-1] + answer)
        return F

    def has_narrow(self):
        return has_narrow_regressions(self.k, self.kinds, self.width(), self.max_memory)

    def has_wide(self):
        return has_wide_regressions(self.k, self.kinds, self.width(), self.max_memory, self.slots)

    def kinds_of_regressions(self, features):
        """Those that count in a row: none if all of it is at shared places."""
        if len(own(features[1])) == 1 and len(features[1]) > 1:
            return []
        return ["narrow"] * self.has_narrow() + ["wide"] * self.has_wide()

    def regression_losses(self, features):
        losses = {"narrow": self.L_narrow, "wide": self.L_wide}
        return [losses[kind] for kind in self.kinds_of_regressions(features)]

    def regression_answer(self, kind, a, features):
        """What the label's weights say of names and words that share places, and its regression of the
        columns.
        """
        if kind == "narrow":
            return self.shared_score(a, features) + self.narrow[a].answer(self.read(features))
        return self.shared_score(a, features) + self.wide[a].answer(self.read_wide(features))

    def read_wide(self, features):
        """What wide regressions read of a row."""
        return own(features[1]) + features[2]

    def read(self, features):
        """What narrow regressions read of a row."""
        return own(features[1])

    def shared_score(self, a, features):
        return self.dot(a, 1, [(place, value) for place, value in features[1] if place[0] == "shared"])

    def least_loss(self, features):
        return min(self.L + self.regression_losses(features))

    def expert_weights(self, features):
        return self.weights_with(self.regression_losses(features))

    def weights_with(self, regression_losses):
        """Of the prefixes, then of the regressions that count."""
        u = shares([math.exp(-HEDGE_RATE * (loss - min(self.L))) for loss in self.L])
        least = min(self.L + regression_losses)
        family = [math.exp(-FAMILY_RATE * (loss - least)) for loss in [min(self.L), *regression_losses]]
        v = shares([family[0] * u_j for u_j in u] + family[1:])
        return shares([v_j if v_j >= LEAST_EXPERT else 0.0 for v_j in v])

    def scores(self, x):
        features = self.features(x)
        v = self.expert_weights(features)
        score = [0.0] * self.k
        for a, n in self.n_wrong.items():
            score[a] = -n / (n + PATIENCE)
        for a in self.groups:
            score[a] = self.label_score(a, x, features, v, self.kinds_of_regressions(features))
        return score

    def label_score(self, a, x, features, v, kinds):
        """The mean of a label's prefixes and these kinds of regressions with weights v."""
        score, F = 0.0, self.prefixes(a, x, features)
        for kind, v_j in zip(kinds, v[3 + self.N :], strict=True):
            score += v_j * clip(self.regression_answer(kind, a, features), -1, 1)
        for j in range(3 + self.N):
            score += v[j] * clip(F[j + 1], -1, 1)
        return score

    def score_of_learning(self, a, x, features, u):
        """The label's score by the experts that learn in this round."""
        kinds = self.kinds_of_regressions(features)
        if "wide" in kinds and self.wide_rests(features, u):
            kinds = ["narrow"] * ("narrow" in kinds)
        losses = {"narrow": self.L_narrow, "wide": self.L_wide}
        return self.label_score(a, x, features, self.weights_with([losses[kind] for kind in kinds]), kinds)

    def rests(self, behind, u, how_far):
        """Who is far behind rests, a prefix the more often the further, once the memory is full."""
        return self.V > MEMORY and behind > FAR_BEHIND and u * how_far >= AWAKE

    def hopes(self, score, x):
        """Scores plus what the narrow regressions, and the weights at shared places, do not know."""
        features = self.features(x)
        if not self.has_hopes(features):
            return score
        error = 2 * math.sqrt(self.least_loss(features) / min(max(self.V, 1), MEMORY))
        shared = [(place, value) for place, value in features[1] if place[0] == "shared"]
        read = own(features[1]) if self.has_narrow() else []
        length = 0.0
        for _, value in shared + read:
            length += value * value
        hope = []
        for a in range(self.k):
            squared = length / (1 + self.n_wrong.get(a, 0))
            if a in self.groups:
                squared = 0.0
                for place, value in shared:
                    squared += value * value / (1 + self.G[a, 1].get(place, 0.0))
                if self.has_narrow():
                    squared += self.narrow[a].squared_width(read)
            optimism = OPTIMISM_ANEW if a in self.anew else OPTIMISM
            hope.append(score[a] + optimism * error * math.sqrt(squared))
        return hope

    def has_hopes(self, features):
        """Whether there are narrow regressions, or something that counts at a shared place."""
        return self.has_narrow() or len(own(features[1])) < len(features[1])

    def without_words(self, x):
        """What trees read of a row."""
        return [value for value, kind in zip(x, self.kinds, strict=True) if is_column(kind)]

    def probabilities(self, hope, x, allowed=None):
        """(best, p), among the allowed labels in the place of all."""
        allowed = range(self.k) if allowed is None else allowed
        k = len(allowed)
        best = first_best(hope, allowed)
        hope = list(hope)
        for a, belief in self.beliefs.items():
            hope[a] = hope[best] - (hope[best] - hope[a]) * math.exp(-belief.R)
        doubt = max((1 - hope[best]) / 2, LEAST_DOUBT)
        c = GAMMA_WITH_HOPE if self.has_hopes(self.features(x)) else GAMMA
        gamma = min(c * math.sqrt(self.V - self.last_change() + 1), MOST_GAMMA) * k / doubt
        P = [0.0] * self.k
        others = 0.0
        for a in allowed:
            if a != best:
                P[a] = 1 / (k + gamma * (hope[best] - hope[a]) / 2)
                others += P[a]
        P[best] = 1 - others
        return best, P

    def decide(self, x, allowed=None):
        round, self.round = self.round, self.round + 1
        x = self.completed(x)
        score = self.scores(x)
        hope = self.hopes(score, x)
        best, P = self.probabilities(hope, x, allowed)
        shown = draw(rng.uniform(self.seed, round, rng.EXPLORE, 0), best, P)
        believed = first_best(score, range(self.k) if allowed is None else allowed)
        return GapDecision(round, score, hope, P, believed, shown, P[shown])

    def add_label(self):
        """One more, number k. Slots are those of a model that is made with so many labels."""
        self.k += 1
        assert most_slots(self.k) == self.slots, "weights would have to move"

    def completed(self, x):
        """Columns that joined after the row was coded are missing in it."""
        return list(x) + [math.nan] * (len(self.kinds) - len(x))

    # Learning

    def learn(self, decision, x, reward):
        """The reward is in [0, 1]: 1 for a right label, 0 for a wrong one."""
        a, x = decision.ytilde, self.completed(x)
        features = self.features(x)
        if a not in self.groups and (reward > 0 or self.k <= MOST_EAGER):
            self.make_group(a)
        self.V += 1
        self.heard[a] = self.heard.get(a, 0) + 1
        if a in self.groups:
            u = rng.uniform(self.seed, decision.round, rng.REST, 0)
            p = (1 + self.score_of_learning(a, x, features, u)) / 2
            self.teach(a, x, reward, features, u)
            self.look_for_change(decision, reward, p)
        else:
            for m in LINEAR:
                self.note_norm(m, features[m])
            self.n_wrong[a] = self.n_wrong.get(a, 0) + 1
        for c, kind in enumerate(self.kinds):
            if kind == "numeric":
                self.statistics.setdefault(c, Statistics()).add(x[c])
        for place, weight, name in self.shared_items(x):
            count, squares = self.shared.get(place, (0, 0.0))
            self.shared[place] = count + 1, squares + weight * weight
            if name is not None:
                self.last_name[place] = name

    def last_change(self):
        return self.changes[-1][0] if self.changes else 0

    def look_for_change(self, decision, reward, p):
        a = decision.ytilde
        belief = self.beliefs.setdefault(a, Belief())
        counts = self.V - self.last_change() > RISES_AFTER
        if a != decision.yhat and belief.has_risen(reward, p, counts):
            self.learn_anew(a)
        if belief.has_fallen(reward, p):
            self.changes.append((self.V, a))
            self.beliefs, self.anew = {}, set()
            for label in self.groups:
                self.learn_anew(label)

    def learn_anew(self, a):
        """Weights stay; inverses are nearly as at the beginning, sums of squared gradients as after a lesson or
        so.
        """
        self.anew.add(a)
        self.narrow[a].forget()
        self.wide[a].forget()
        self.wide[a].waiting = []
        for m in LINEAR:
            self.G[a, m] = {place: min(G, LITTLE) for place, G in self.G[a, m].items()}

    def note_norm(self, m, features):
        for _, value in features:
            self.Q[m] += value * value

    def teach(self, a, x, reward, features, u):
        """What the chain and the regressions of a label learn; u tells whether those far behind do."""
        y = 2 * reward - 1
        n_prefixes = self.n_awake(u)
        wide_learns = not self.wide_rests(features, u)
        kinds = self.kinds_of_regressions(features)
        if "narrow" in kinds:
            answer = self.regression_answer("narrow", a, features)
            self.L_narrow = judged(self.L_narrow, answer, y)
            self.narrow[a].learn(self.read(features), y - answer)
        if "wide" in kinds and wide_learns:
            answer = self.regression_answer("wide", a, features)
            self.L_wide = judged(self.L_wide, answer, y)
            self.teach_wide(a, features, answer, y)
        self.note_claims(a, features, reward)
        F = self.prefixes(a, x, features)  # from the state before this lesson
        for m in LINEAR:
            if m <= n_prefixes:
                self.L[m - 1] = judged(self.L[m - 1], F[m], y)
                self.note_norm(m, features[m])
                self.learn_linear(a, m, features[m], y, F[m])
            else:
                self.Q[m] *= self.V / (self.V - 1)
        for i in range(n_prefixes - 3):
            self.L[3 + i] = judged(self.L[3 + i], F[4 + i], y)
            prefix = F[3 + i]  # before this tree
            w = 0.0 if beyond(prefix, y) else abs(y - prefix)
            if w > LEAST_WEIGHT:
                self.groups[a][i].learn(self.without_words(x), 1 if y > prefix else 0, w)

    def wide_rests(self, features, u):
        return self.rests(self.L_wide - self.least_loss(features), u, FAR_BEHIND)

    def teach_wide(self, a, features, answer, y):
        """It learns what is short of the verdict."""
        if not beyond(answer, y):
            self.wide[a].hear(self.read_wide(features), y - self.shared_score(a, features), self.heard[a] - 1)

    def n_awake(self, u):
        """The number of the last prefix that does not rest."""
        n, least = 3 + self.N, min(self.L)
        while self.rests(self.L[n - 1] - least, u, self.L[n - 1] - least):
            n -= 1
        return n

    def note_claims(self, a, features, reward):
        """What is at a shared place, and speaks for the label, claims the row for it."""
        shared = [(place, value) for place, value in features[1] if place[0] == "shared"]
        if not shared:
            return
        m = self.right_claims / self.claims if self.claims > 0 else 0.0
        self.claims *= 1 - 1 / MEMORY
        self.right_claims *= 1 - 1 / MEMORY
        for name, value in shared:
            if value * self.W[a, 1].get(name, 0.0) > 0:
                place = name[1]
                self.right[place] = self.right.get(place, 0.0) + reward
                self.expected[place] = self.expected.get(place, 0.0) + m
                self.claims += 1
                self.right_claims += reward

    def make_group(self, a):
        first = len(self.groups) * self.N
        self.groups[a] = [self.make_learner(first + i) for i in range(self.N)]
        self.narrow[a], self.wide[a] = Ridge(), LateRidge()
        for m in LINEAR:
            self.W[a, m], self.G[a, m] = {}, {}

    def learn_linear(self, a, m, features, y, F_m):
        """The flow of (y - F)^2 along the AdaGrad direction: F moves towards y, never past it."""
        if beyond(F_m, y) or not features:
            return
        W, G, e = self.W[a, m], self.G[a, m], y - F_m
        for place, value in features:
            G[place] = G.get(place, 0.0) + (e * value) ** 2
        r = self.step / math.sqrt(max(self.Q[m] / self.V, LEAST_NORM))
        h = 0.0
        for place, value in features:
            if G[place] > 0:
                h += value * value / math.sqrt(G[place])
        h *= r
        if h == 0:
            return
        r *= (1 - math.exp(-h)) / h
        for place, value in features:
            if G[place] > 0:
                W[place] = W.get(place, 0.0) + r * e * value / math.sqrt(G[place])


def own(features):
    """Those of stage 1 that regressions have: neither shared names nor words."""
    return [(place, value) for place, value in features if place[0] != "shared"]


def beyond(F, y):
    """Whether F is at or beyond an end of [-1, 1] that y is at."""
    return (y == 1 and F >= 1) or (y == -1 and F <= -1)


def judged(loss, answer, y):
    """A discounted sum of squared errors, with one more."""
    return (1 - 1 / MEMORY) * loss + ((y - clip(answer, -1, 1)) / 2) ** 2


def shares(v):
    total = 0.0
    for v_j in v:
        total += v_j
    return [v_j / total for v_j in v]


def first_best(score, allowed):
    best = allowed[0]
    for a in allowed:
        if score[a] > score[best]:
            best = a
    return best


def draw(u, best, P):
    """The first label but the best at which the running sum passes u; else the best."""
    running = 0.0
    for a in range(len(P)):
        if a != best:
            running += P[a]
            if running > u:
                return a
    return best
