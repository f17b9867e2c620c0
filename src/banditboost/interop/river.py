"""River: the full-information boosters as its classifiers, and its classifiers as weak learners."""

from __future__ import annotations

import inspect
import random
import sys
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from river import base

from banditboost.boosting.full_information import AdaFull, FullInformationBooster, OptFull
from banditboost.errors import LabelError, ParameterError
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_count, check_labels, is_hashable

Row = Mapping[Any, Any]


def _in_order(x: Row) -> dict[Any, Any]:
    """Features in the order of their names.

    River's rows have no order, and what is learned must not depend on one.
    """
    return dict(sorted(x.items(), key=lambda item: str(item[0])))


class _RiverBooster(base.Classifier):
    """What both classifiers share: labels that are known, or that join as they come."""

    _booster_class: type[FullInformationBooster]

    def __init__(
        self,
        labels: Iterable[Hashable] | None = None,
        n_learners: int = 20,
        max_labels: int = 100,
        replay: int = 1000,
        seed: int | None = None,
        **parameters: Any,
    ) -> None:
        self.labels = None if labels is None else check_labels(labels)
        self.n_learners = n_learners
        self.max_labels = check_count("max_labels", max_labels, 2, 1_000_000)
        self.replay = check_count("replay", replay, 0, 2**31)
        self.seed = seed
        self.parameters = parameters
        # With labels that join, a booster is there from the first moment, too: it refuses bad parameters, and
        # never learns.
        self._booster = self._make(("yes", "no") if self.labels is None else self.labels)
        self._schema = self._booster.schema
        self._seen: tuple[Hashable, ...] = () if self.labels is None else self.labels
        self._recent: deque[tuple[dict[Any, Any], Hashable]] = deque(maxlen=self.replay)

    def _make(self, labels: tuple[Hashable, ...]) -> FullInformationBooster:
        return self._booster_class(labels, n_learners=self.n_learners, seed=self.seed, **self.parameters)

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes held by the booster and the rows that it may have to learn again.

        River would walk through all objects that can be reached from here, the compiler's among them.
        """
        rows = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row.values())) for row, _ in self._recent)
        return self._booster.memory_usage + sys.getsizeof(self._recent) + rows

    @property
    def booster(self) -> FullInformationBooster | None:
        """The model inside; None before a second label was seen."""
        return self._booster if len(self._seen) > 1 else None

    def learn_one(self, x: Row, y: Hashable) -> None:
        """Learn that y is the label of x."""
        row = _in_order(x)
        if self.labels is not None:
            self._booster.learn_one(row, y)
        elif y not in self._seen:
            self._admit(row, y)
        elif len(self._seen) == 1:
            self._schema.admit(row)
            self._recent.append((row, y))
        else:
            self._booster.learn_one(row, y)
            self._recent.append((row, y))

    def _admit(self, row: dict[Any, Any], y: Hashable) -> None:
        """Let a new label join.

        k is part of every cost, so a booster for one label more starts anew and learns the recent rows again.
        """
        if len(self._seen) == self.max_labels:
            raise LabelError(
                f"y is {y!r}, a new label after max_labels={self.max_labels}; give a larger max_labels, "
                "or the labels"
            )
        if not is_hashable(y):
            raise LabelError(f"y is {quoted(y)}, which is not hashable; give strings, numbers or tuples")
        if not self._seen:
            self._schema.admit(row)
        else:
            booster = self._make((*self._seen, y))
            for old_row, old_y in (*self._recent, (row, y)):
                booster.learn_one(old_row, old_y)
            self._booster = booster
        self._seen = (*self._seen, y)
        self._recent.append((row, y))

    def predict_one(self, x: Row) -> Hashable | None:
        """The label that the booster predicts; None before any is known."""
        if len(self._seen) < 2:
            return self._seen[0] if self._seen else None
        return self._booster.predict_one(x)

    def predict_proba_one(self, x: Row) -> dict[Hashable, float]:
        """Each known label's share: the booster's `predict_proba_one`."""
        if len(self._seen) < 2:
            return dict.fromkeys(self._seen, 1.0)
        return self._booster.predict_proba_one(x)


class AdaFullClassifier(_RiverBooster):
    """AdaFull (Adaboost.OLM) for River.

    Without `labels`, they join as they come: with each new one a booster for one label more starts anew from
    the last `replay` rows. A row whose label is new after `max_labels` is refused.

    Args:
        labels: all labels, if they are known; then nothing is kept for a replay.
        n_learners: how many weak learners.
        max_labels: how many labels may join.
        replay: how many recent rows are kept while labels may join, and learned again after one has.
        seed: two models with the same seed learn the same.
        parameters: the others of `banditboost.AdaFull`, such as `weak_learner` or `schema`.

    >>> from river import datasets, evaluate, metrics
    >>> model = AdaFullClassifier(n_learners=5, seed=1)
    >>> stream = datasets.Phishing().take(500)
    >>> accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get()
    >>> int(10 * accuracy)  # tenths
    8
    """

    _booster_class = AdaFull


class OptFullClassifier(_RiverBooster):
    """OptFull (OnlineMBBM) for River.

    Labels join as in `AdaFullClassifier`; `parameters` are those of `OptFull`, such as `edge`.

    >>> model = OptFullClassifier(n_learners=5, edge=0.2, seed=1)
    >>> model.learn_one({"age": 31}, "no")
    >>> model.predict_proba_one({"age": 64})["no"]
    1.0
    """

    _booster_class = OptFull


class RiverLearner:
    """A River classifier as a weak learner.

    For example `AdaBandit(labels, weak_learner=RiverLearner(tree.HoeffdingTreeClassifier()))`.

    The classifier sees features by their place (0, 1, ...), or by name with the booster's `schema`, which
    then also makes the values of nominal features strings. Missing values are left out. Where its `learn_one`
    takes no weight `w`, an example of weight w is learned floor(w) times, and once more with probability w -
    floor(w).

    >>> from banditboost import AdaBandit
    >>> from river import naive_bayes
    >>> learner = RiverLearner(naive_bayes.GaussianNB())
    >>> model = AdaBandit(["yes", "no"], n_learners=3, weak_learner=learner, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.verdicts
    1
    """

    def __init__(self, classifier: Any, schema: Schema | None = None, seed: int = 0) -> None:
        if not hasattr(classifier, "predict_one"):
            raise ParameterError(
                f"classifier is {classifier!r}; give a River classifier, "
                "such as tree.HoeffdingTreeClassifier()"
            )
        self.classifier = classifier.clone()
        self._names = None if schema is None else schema.names
        self._nominal = () if schema is None else tuple(kind == "nominal" for kind in schema.kinds)
        self._takes_weight = "w" in inspect.signature(self.classifier.learn_one).parameters
        self._random = random.Random(seed)

    def _features(self, x: Array) -> dict[Hashable, Any]:
        if self._names is None:
            return {i: value for i, value in enumerate(x.tolist()) if value == value}
        columns = zip(self._names, self._nominal, x.tolist(), strict=True)
        return {
            name: str(int(value)) if nominal else value for name, nominal, value in columns if value == value
        }

    def predict(self, x: Array) -> int:
        """The label index that the classifier predicts; 0 while it knows none."""
        label = self.classifier.predict_one(self._features(x))
        return 0 if label is None else int(label)

    def learn(self, x: Array, label: int, weight: float) -> None:
        """Teach the classifier one example."""
        features = self._features(x)
        if self._takes_weight:
            self.classifier.learn_one(features, label, w=weight)
            return
        times = int(weight) + (self._random.random() < weight % 1.0)
        for _ in range(times):
            self.classifier.learn_one(features, label)
