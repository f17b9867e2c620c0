"""The Hoeffding tree of docs/trees.md in plain loops, without the memory ceiling."""

import itertools
import math
import struct

from .rng import LEAF_COLUMN, pick, uniform

N_THRESHOLDS = 10
MERIT_GRID = 2.0**24


def g(x):
    return x * math.log2(x) if x > 0 else 0.0


def total(numbers):
    """A plain sum from left to right; Python's own sum compensates since 3.12."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def Phi(z):
    return 0.5 * math.erfc(-z / math.sqrt(2))


def to_24_bits(weight):
    """Rounded to the precision of a 32-bit float, in which equal weights are equal."""
    return struct.unpack("f", struct.pack("f", weight))[0]


def rounded(merit):
    return math.floor(merit * MERIT_GRID + 0.5) / MERIT_GRID


class Moments:
    """Weight, mean and sum of squares of one numeric feature for one class."""

    def __init__(self):
        self.w = self.mean = self.M2 = 0.0

    def add(self, value, weight):
        self.w += weight
        delta = value - self.mean
        self.mean += delta * (weight / self.w)
        self.M2 += weight * delta * (value - self.mean)

    def sd(self, lo, hi):
        # Rounding can leave M2 a hair below zero.
        return max(math.sqrt(max(self.M2, 0.0) / self.w), 1e-6 * (hi - lo))


class Node:
    """A leaf until `children` is filled; then a split."""

    def __init__(self, class_weights, fallback, number):
        self.number = number
        self.columns = None  # chosen before the first example
        self.class_weight = dict(class_weights)  # label -> weight; order = list order
        self.fallback = fallback  # None only at the root
        self.start_weight = total(self.class_weight.values())
        self.children = []
        self.feature = None
        self.threshold = None  # stays None in a nominal split

        self.weight = self.start_weight
        self.own = 0.0
        self.examples = 0
        self.last_attempt = 0.0
        self.majority_right = 0.0
        self.bayes_right = 0.0
        self.seen = set()  # the classes with statistics
        self.moments = {}  # (feature, label) -> Moments
        self.value_weight = {}  # (feature, label, value) -> weight
        self.lo = {}  # feature -> smallest value
        self.hi = {}  # feature -> largest value

    def classes(self):
        """The classes with statistics, in the order of the leaf's list."""
        return [label for label in self.class_weight if label in self.seen]

    def top_class(self):
        best = None
        for label, weight in self.class_weight.items():
            if best is None or weight > self.class_weight[best]:
                best = label
        return best

    def has_spread(self, feature):
        # hi > lo; the product also refuses a difference so small that it vanishes.
        return feature in self.lo and self.hi[feature] - self.lo[feature] >= 1e-100

    def w_cv(self, feature, label, value):
        return self.value_weight.get((feature, label, value), 0.0)


class Tree:
    def __init__(
        self,
        k,
        kinds,
        n_values,
        grace_period,
        split_confidence,
        tie_threshold,
        leaf_prediction="majority",
        min_branch_fraction=0.01,
        max_columns=None,
        seed=0,
        numbers=None,
    ):
        self.k = k
        self.kinds = kinds
        self.n_values = n_values  # shared with the caller, who may let it grow
        self.grace_period = grace_period
        self.split_confidence = split_confidence
        self.tie_threshold = tie_threshold
        self.leaf_prediction = leaf_prediction
        self.min_branch_fraction = min_branch_fraction
        self.max_columns = max_columns
        self.seed = seed
        self.numbers = itertools.count() if numbers is None else numbers  # trees of one model share them
        self.root = Node({}, None, next(self.numbers))

    def is_missing(self, feature, value):
        """A nominal value without a place of its own is."""
        return math.isnan(value) or (self.kinds[feature] == "nominal" and value >= self.n_values[feature])

    # Where a row goes

    def child_of(self, node, x):
        value = x[node.feature]
        if not math.isnan(value):
            if node.threshold is not None:
                return node.children[0 if value <= node.threshold else 1]
            if value < len(node.children):
                return node.children[int(value)]
        # Missing, or not known when the node split: the child that started with most weight.
        heaviest = node.children[0]
        for child in node.children:
            if child.start_weight > heaviest.start_weight:
                heaviest = child
        return heaviest

    def path(self, x):
        nodes = [self.root]
        while nodes[-1].children:
            nodes.append(self.child_of(nodes[-1], x))
        return nodes

    # Learning

    def learn(self, x, label, weight):
        weight = to_24_bits(weight)
        leaf = self.path(x)[-1]
        if self.leaf_prediction == "adaptive":
            self.compare_predictions(leaf, x, label, weight)
        leaf.class_weight[label] = leaf.class_weight.get(label, 0.0) + weight
        self.collect(leaf, x, label, weight)
        leaf.weight += weight
        if leaf.weight - leaf.last_attempt >= self.grace_period:
            leaf.last_attempt = leaf.weight
            self.try_to_split(leaf)
            if not leaf.children:
                self.exchange(leaf, x)

    def compare_predictions(self, leaf, x, label, weight):
        if leaf.top_class() == label:
            leaf.majority_right += weight
        if self.bayes_class(leaf, x) == label:
            leaf.bayes_right += weight

    # The columns of a leaf

    def is_wide(self):
        return self.max_columns is not None and len(self.kinds) > self.max_columns

    def columns_of(self, leaf):
        """Its columns, in its order."""
        if leaf.columns is None or not self.is_wide():
            return list(range(len(self.kinds)))
        return leaf.columns

    def follow(self, leaf):
        """Columns that have joined are taken while there is room."""
        if leaf.columns is not None:
            for f in range(len(self.kinds)):
                if f not in leaf.columns and (
                    self.max_columns is None or len(leaf.columns) < self.max_columns
                ):
                    leaf.columns.append(f)

    def choose(self, leaf, x):
        if not self.is_wide():
            leaf.columns = list(range(len(self.kinds)))
            return
        present = [f for f in range(len(x)) if not math.isnan(x[f])]
        missing = [f for f in range(len(x)) if math.isnan(x[f])]
        if len(present) > self.max_columns:
            leaf.columns = self.drawn(leaf, present, self.max_columns)
        else:
            leaf.columns = sorted(present + self.drawn(leaf, missing, self.max_columns - len(present)))

    def drawn(self, leaf, columns, wanted):
        taken = []
        for passed, f in enumerate(columns):
            if self.u(leaf, f) * (len(columns) - passed) < wanted - len(taken):
                taken.append(f)
        return taken

    def u(self, leaf, index):
        return uniform(self.seed, leaf.number, LEAF_COLUMN, index)

    def exchange(self, leaf, x):
        if not self.is_wide():
            return
        dead = [place for place, f in enumerate(leaf.columns) if self.is_dead(leaf, f)]
        if 2 * len(dead) <= self.max_columns:
            return
        for place in dead[:8]:
            d = len(self.kinds)
            start = math.floor(self.u(leaf, 2**24 * leaf.examples + place) * d)
            for f in [*range(start, d), *range(start)]:
                if self.may_replace(leaf, leaf.columns[place], f, x):
                    self.forget(leaf, leaf.columns[place])
                    leaf.columns[place] = f
                    break
            else:
                return

    def is_dead(self, leaf, f):
        if self.kinds[f] == "numeric":
            return not leaf.has_spread(f)
        return len({v for feature, _, v in leaf.value_weight if feature == f}) <= 1

    def may_replace(self, leaf, old, new, x):
        if new in leaf.columns or self.width(new) != self.width(old) or math.isnan(x[new]):
            return False
        return self.kinds[new] != "numeric" or x[new] != 0

    def width(self, f):
        if self.kinds[f] == "numeric":
            return 3
        width = 4
        while width < self.n_values[f]:
            width *= 2
        return width

    def forget(self, leaf, f):
        leaf.lo.pop(f, None)
        leaf.hi.pop(f, None)
        leaf.moments = {key: m for key, m in leaf.moments.items() if key[0] != f}
        leaf.value_weight = {key: w for key, w in leaf.value_weight.items() if key[0] != f}

    def collect(self, leaf, x, label, weight):
        if leaf.columns is None:
            self.choose(leaf, x)
        self.follow(leaf)
        leaf.own += weight
        leaf.examples += 1
        leaf.seen.add(label)
        for feature in self.columns_of(leaf):
            value = x[feature]
            if self.is_missing(feature, value):
                continue
            if self.kinds[feature] == "numeric":
                leaf.moments.setdefault((feature, label), Moments()).add(value, weight)
                leaf.lo[feature] = min(leaf.lo.get(feature, value), value)
                leaf.hi[feature] = max(leaf.hi.get(feature, value), value)
            else:
                key = (feature, label, int(value))
                leaf.value_weight[key] = leaf.value_weight.get(key, 0.0) + weight

    # Splitting

    def try_to_split(self, leaf):
        C = len(leaf.seen)
        if C < 2:
            return
        R = math.log2(C)
        epsilon = R * math.sqrt(math.log(1 / self.split_confidence) / (2 * leaf.weight))
        best, best_split, second = 0.0, None, -math.inf  # the null split has merit 0
        for feature in self.columns_of(leaf):
            merit, split = self.best_split_on(leaf, feature)
            if split is None:
                continue
            if merit > best:
                best, best_split, second = merit, split, best
            else:
                second = max(second, merit)
        if best_split is None:
            return
        if best - second > epsilon or epsilon < self.tie_threshold:
            self.split(leaf, best_split)

    def best_split_on(self, leaf, feature):
        """(rounded merit, split) or (None, None); a split is (feature, threshold,
        W, class weights of each child)."""
        if self.kinds[feature] == "numeric":
            return self.numeric_split(leaf, feature)
        return self.nominal_split(leaf, feature)

    def numeric_split(self, leaf, feature):
        if not leaf.has_spread(feature):
            return None, None
        lo, hi = leaf.lo[feature], leaf.hi[feature]
        stats = {}  # label -> Moments with w_c > 0
        for label in leaf.classes():
            if (feature, label) in leaf.moments:
                stats[label] = leaf.moments[feature, label]
        W = total(m.w for m in stats.values())
        least = self.min_branch_fraction * W
        best, best_split = None, None
        for b in range(N_THRESHOLDS):
            t = lo + (hi - lo) * (b + 1) / (N_THRESHOLDS + 1)
            left, right = {}, {}
            for label, m in stats.items():
                left[label] = m.w * Phi((t - m.mean) / m.sd(lo, hi))
                right[label] = m.w - left[label]
            L = total(left.values())
            if min(L, W - L) < least:
                continue
            before = g(W) - total(g(m.w) for m in stats.values())
            after = g(L) + g(W - L) - total(g(left[c]) + g(right[c]) for c in stats)
            merit = rounded((before - after) / leaf.own)
            if best is None or merit > best:
                best, best_split = merit, (feature, t, W, [left, right])
        return best, best_split

    def nominal_split(self, leaf, feature):
        classes = leaf.classes()
        values = range(self.n_values[feature])
        W_v = [total(leaf.w_cv(feature, c, v) for c in classes) for v in values]
        w_c = [total(leaf.w_cv(feature, c, v) for v in values) for c in classes]
        W = total(w_c)
        if sum(weight >= self.min_branch_fraction * W for weight in W_v) < 2:
            return None, None
        before = g(W) - total(g(weight) for weight in w_c)
        after = 0.0
        children = []
        for v in values:
            child = {c: leaf.w_cv(feature, c, v) for c in classes}
            children.append(child)
            after += g(W_v[v]) - total(g(weight) for weight in child.values())
        return rounded((before - after) / leaf.own), (feature, None, W, children)

    def split(self, leaf, best_split):
        leaf.feature, leaf.threshold, W, estimates = best_split
        fallback = leaf.top_class()
        for estimate in estimates:
            kept = {label: to_24_bits(w) for label, w in estimate.items() if w > 1e-6 * W}
            leaf.children.append(Node(kept, fallback, next(self.numbers)))

    # Predicting

    def predict(self, x, u):
        """A label; u() is the LEAF_TIE number, asked for only when needed."""
        leaf = self.path(x)[-1]
        if self.uses_bayes(leaf) and leaf.seen:
            return self.bayes_class(leaf, x)
        if not leaf.class_weight:
            if leaf.fallback is None:
                return pick(u(), range(self.k))
            return leaf.fallback
        largest = max(leaf.class_weight.values())
        tied = [c for c, weight in leaf.class_weight.items() if weight == largest]
        return tied[0] if len(tied) == 1 else pick(u(), tied)

    def has_split(self):
        return len(self.nodes()) > 1

    def score(self, x):
        """Binary trees: how much class 1 is believed, in [0, 1]."""
        leaf = self.path(x)[-1]
        if self.uses_bayes(leaf) and leaf.seen:
            return self.bayes_posterior(leaf, x)
        if not leaf.class_weight:
            return 0.5 if leaf.fallback is None else (leaf.fallback + 1) / 3
        return (leaf.class_weight.get(1, 0.0) + 1) / (total(leaf.class_weight.values()) + 2)

    def uses_bayes(self, leaf):
        if self.leaf_prediction == "adaptive":
            return leaf.bayes_right > leaf.majority_right
        return self.leaf_prediction == "naive_bayes"

    def bayes_class(self, leaf, x):
        best, best_value = leaf.top_class(), None  # no statistics: as majority
        for label in leaf.classes():
            value = self.bayes_value(leaf, x, label)
            if best_value is None or value > best_value:
                best, best_value = label, value
        return best

    def bayes_value(self, leaf, x, label):
        """ln(class weight) + sum over present features of ln p(x_f | class)."""
        value = math.log(leaf.class_weight[label])
        for feature in self.columns_of(leaf):
            if self.is_missing(feature, x[feature]):
                continue
            if self.kinds[feature] == "numeric":
                value += self.log_density(leaf, feature, label, x[feature])
            else:
                value += self.log_share(leaf, feature, label, int(x[feature]))
        return value

    def log_density(self, leaf, feature, label, value):
        if not leaf.has_spread(feature) or (feature, label) not in leaf.moments:
            return 0.0
        m = leaf.moments[feature, label]
        sd = m.sd(leaf.lo[feature], leaf.hi[feature])
        z = max(-1e100, min(1e100, (value - m.mean) / sd))
        return -0.5 * z * z - math.log(sd) - 0.5 * math.log(2 * math.pi)

    def log_share(self, leaf, feature, label, value):
        V = self.n_values[feature]
        if value >= V:
            return 0.0
        w_c = total(leaf.w_cv(feature, label, v) for v in range(V))
        a = leaf.own / leaf.examples  # one average example
        return math.log((leaf.w_cv(feature, label, value) + a) / (w_c + a * V))

    def bayes_posterior(self, leaf, x):
        value = {label: self.bayes_value(leaf, x, label) for label in leaf.classes()}
        largest = max(value.values())
        e = {label: math.exp(v - largest) for label, v in value.items()}
        return e.get(1, 0.0) / total(e.values())

    # For comparison with the compiled tree

    def nodes(self):
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting.extend(node.children)
        return found

    def n_nodes(self):
        return len(self.nodes())

    def n_leaves(self):
        return sum(not node.children for node in self.nodes())

    def shape(self):
        return shape_of(self.root)


def shape_of(node):
    if not node.children:
        return {"classes": list(node.class_weight.items())}
    return {
        "feature": node.feature,
        "threshold": node.threshold,
        "children": [shape_of(child) for child in node.children],
    }
