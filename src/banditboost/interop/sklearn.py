"""scikit-learn: boosters as its classifiers, and its `partial_fit` classifiers as weak learners."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from banditboost.boosting.full_information import AdaFull, FullInformationBooster, OptFull
from banditboost.errors import FeatureError, LabelError, ParameterError
from banditboost.rows.sparse import is_sparse
from banditboost.simulation.play import play
from banditboost.types import Array
from banditboost.validation import check_count
from banditboost.weak_learners.hoeffding import HoeffdingTree

_LARGEST_SEED = 2**31 - 1
_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": "allow-nan"}
_MOST_COLUMNS = 16_384  # of a sparse matrix: each is a column to the trees


def _check_width(X: Any) -> None:
    """Refuse a sparse matrix that trees have no room for, before it is made dense."""
    if is_sparse(X) and X.shape[1] > _MOST_COLUMNS:
        raise FeatureError(
            f"X is sparse and has {X.shape[1]} columns, each of which is one to the trees; give at most "
            f"{_MOST_COLUMNS}, such as CountVectorizer(max_features={_MOST_COLUMNS}) makes, or let GapBoost "
            "learn them as words: play(GapBoost(labels), X, y)"
        )


class _SklearnBooster(ClassifierMixin, BaseEstimator):
    """What both classifiers share. Rows are numbers, NaN where missing; a sparse matrix has 0 where it stores
    nothing.
    """

    classes_: Array
    n_features_in_: int
    booster_: FullInformationBooster

    def _make(self, n_labels: int) -> FullInformationBooster:
        raise NotImplementedError

    def _parameters(self) -> dict[str, Any]:
        """Parameters of the booster; its seed is drawn as scikit-learn draws."""
        return {
            "n_learners": self.n_learners,
            "weak_learner": self.weak_learner,
            "clip": self.clip,
            "importance_scale": self.importance_scale,
            "max_memory": self.max_memory,
            "seed": int(check_random_state(self.random_state).randint(_LARGEST_SEED)),
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the rows `n_passes` times, in their order, from the beginning."""
        return self._learn(
            X, y, None, anew=True, n_passes=check_count("n_passes", self.n_passes, 1, 1_000_000)
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn further rows, once; the first call needs all `classes` that will ever come."""
        anew = not hasattr(self, "booster_")
        if anew and classes is None:
            raise LabelError(
                "classes is None in the first call of partial_fit; give all classes that will ever come"
            )
        if not anew and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise LabelError(
                f"classes is {classes!r}, but the first call was given {self.classes_!r}; "
                "give the same or none"
            )
        return self._learn(X, y, classes, anew=anew)

    def _learn(self, X: Any, y: Any, classes: Any, *, anew: bool, n_passes: int = 1) -> Self:
        X, y = validate_data(self, X, y, reset=anew, **_ROWS)
        _check_width(X)
        check_classification_targets(y)
        known = self.classes_ if not anew else np.unique(y if classes is None else classes)
        if len(known) < 2:
            raise LabelError(f"there is one class only, {known!r}; at least two classes are needed")
        if not np.all(np.isin(y, known)):
            raise LabelError(
                f"y holds {y[~np.isin(y, known)][0]!r}, which is not one of the classes {known!r}; "
                "give them all at first"
            )
        booster = self._make(len(known)) if anew else self.booster_
        for _ in range(n_passes):
            play(booster, X, np.searchsorted(known, y))
        self.classes_, self.booster_ = known, booster
        return self

    def predict_proba(self, X: Any) -> Array:
        """Each class's share, as the booster's `predict_proba_one` has it; columns as in `classes_`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_ROWS)
        rows = (X[t : t + 1].toarray()[0] for t in range(X.shape[0])) if is_sparse(X) else X
        return np.array([list(self.booster_.predict_proba_one(row).values()) for row in rows])

    def predict(self, X: Any) -> Array:
        """The class with the largest probability, the first of them if there are several."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class AdaFullClassifier(_SklearnBooster):
    """AdaFull (Adaboost.OLM) for scikit-learn.

    A stream is learned by `partial_fit`, once; `fit` goes over a small sample several times.

    Args:
        n_learners: how many weak learners.
        n_passes: how often `fit` goes over the rows, always in their order.
        weak_learner: a `HoeffdingTree`, or any weak learner, such as a `SklearnLearner`.
        clip: the largest weight of an example.
        importance_scale: what the weights of examples are multiplied with.
        max_memory: bytes for the trees.
        random_state: as everywhere in scikit-learn.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> int(10 * AdaFullClassifier(random_state=0).fit(X[:100], y[:100]).score(X[100:], y[100:]))  # tenths
    9
    """

    def __init__(
        self,
        n_learners: int = 20,
        n_passes: int = 10,
        weak_learner: HoeffdingTree | Any = None,
        clip: float = 100.0,
        importance_scale: float = 1.0,
        max_memory: int = 256 << 20,
        random_state: Any = None,
    ) -> None:
        self.n_learners = n_learners
        self.n_passes = n_passes
        self.weak_learner = weak_learner
        self.clip = clip
        self.importance_scale = importance_scale
        self.max_memory = max_memory
        self.random_state = random_state

    def _make(self, n_labels: int) -> FullInformationBooster:
        return AdaFull(range(n_labels), **self._parameters())


class OptFullClassifier(_SklearnBooster):
    """OptFull (OnlineMBBM) for scikit-learn.

    `edge` is what the weak learners are believed to have over guessing; all other parameters are those of
    `AdaFullClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> model = OptFullClassifier(edge=0.2, random_state=0).fit(X[:100], y[:100])
    >>> int(10 * model.score(X[100:], y[100:]))  # tenths
    9
    """

    def __init__(
        self,
        n_learners: int = 20,
        n_passes: int = 10,
        edge: float = 0.1,
        weak_learner: HoeffdingTree | Any = None,
        clip: float = 100.0,
        importance_scale: float = 1.0,
        max_memory: int = 256 << 20,
        random_state: Any = None,
    ) -> None:
        self.n_learners = n_learners
        self.n_passes = n_passes
        self.edge = edge
        self.weak_learner = weak_learner
        self.clip = clip
        self.importance_scale = importance_scale
        self.max_memory = max_memory
        self.random_state = random_state

    def _make(self, n_labels: int) -> FullInformationBooster:
        return OptFull(range(n_labels), edge=self.edge, **self._parameters())


class SklearnLearner:
    """A `partial_fit` classifier as a weak learner.

    For example `AdaBandit(labels, weak_learner=SklearnLearner(SGDClassifier(), n_labels=3))`.

    Lessons are given in batches: 1 teaches each at once; more is faster, and some classifiers, such as
    GaussianNB, begin badly with a single row. Missing values become `missing`, for most classifiers refuse
    NaN. Features that join after the first lesson are left out: a scikit-learn classifier cannot take them
    in. Nominal features come as their codes.

    >>> from banditboost import AdaBandit
    >>> from sklearn.naive_bayes import GaussianNB
    >>> learner = SklearnLearner(GaussianNB(), n_labels=2)
    >>> model = AdaBandit(["yes", "no"], n_learners=3, weak_learner=learner, seed=1)
    >>> model.learn(model.decide({"age": 31}), correct=True)
    >>> model.verdicts
    1
    """

    def __init__(self, classifier: Any, n_labels: int, batch: int = 1, missing: float = 0.0) -> None:
        if not hasattr(classifier, "partial_fit") or not hasattr(classifier, "predict"):
            raise ParameterError(
                f"classifier is {classifier!r}, which lacks partial_fit or predict; "
                "give one such as SGDClassifier()"
            )
        if "sample_weight" not in inspect.signature(classifier.partial_fit).parameters:
            raise ParameterError(
                f"classifier is {classifier!r}, whose partial_fit takes no sample_weight; "
                "give one such as SGDClassifier()"
            )
        self.classifier = clone(classifier)
        self.n_labels = check_count("n_labels", n_labels, 2, 1_000_000)
        self.batch = check_count("batch", batch, 1, 1_000_000)
        self.missing = missing
        self._waiting: list[tuple[Array, int, float]] = []
        self._width: int | None = None  # how many features the first lesson had
        self._taught = False

    def _row(self, x: Array) -> Array:
        row = x[: self._width]
        return np.where(np.isnan(row), self.missing, row)

    def predict(self, x: Array) -> int:
        """The label index that the classifier predicts; 0 before the first lesson."""
        if not self._taught:
            return 0
        with np.errstate(
            divide="ignore"
        ):  # naive Bayes takes the logarithm of a label's share, also if it has not come yet
            return int(self.classifier.predict(self._row(x).reshape(1, -1))[0])

    def learn(self, x: Array, label: int, weight: float) -> None:
        """Teach the classifier one example, together with those that wait."""
        if self._width is None:
            self._width = len(x)
        self._waiting.append((self._row(x), label, weight))
        if len(self._waiting) == self.batch:
            rows, labels, weights = zip(*self._waiting, strict=True)
            self.classifier.partial_fit(
                np.array(rows), labels, classes=np.arange(self.n_labels), sample_weight=np.array(weights)
            )
            self._waiting = []
            self._taught = True
