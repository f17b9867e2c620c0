"""What every model shows of itself."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, ClassVar, Protocol

import numpy as np

from banditboost.errors import LabelError, ParameterError
from banditboost.kernels.layout import Forest
from banditboost.kernels.tally import HEARD
from banditboost.rows.schema import Schema
from banditboost.seeing.accuracy import lately, since_the_start
from banditboost.seeing.summary import Summary, Trees
from banditboost.seeing.text import one_line
from banditboost.seeing.trees import TreeView, view_tree
from banditboost.weak_learners.forest import TreeCommittee

Array = np.ndarray[Any, Any]
_BINARY = ("wrong", "right")


class Model(Protocol):
    """What is read of a model."""

    has_groups: ClassVar[bool]
    labels: tuple[Hashable, ...]
    schema: Schema
    n_learners: int
    rounds: int
    max_memory: int
    _tally: Array
    _committee: Any
    _index: dict[Hashable, int]
    _lock: threading.RLock

    @property
    def memory_usage(self) -> int: ...

    def _made_group(self, label: int) -> int: ...


class Visible:
    """The methods with which a model shows what it has learned; none of them changes it."""

    has_groups: ClassVar[bool] = False
    """Whether each label has learners of its own, which answer "was it right?"."""

    def _made_group(self, label: int) -> int:  # noqa: ARG002 (one group serves all labels)
        """The number of the group of learners that a label has; -1 if none was made yet."""
        return 0

    def summary(self: Model) -> Summary:
        """Verdicts, accuracy with intervals (overall and by label, since the start and lately), exploration, weights, leaves, memory.

        >>> from banditboost import AdaBandit
        >>> model = AdaBandit(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     decision = model.decide({"age": age % 50})
        ...     model.learn(decision, correct=(decision.label == "yes") == (age % 50 < 25))
        >>> summary = model.summary()
        >>> summary.verdicts, round(summary.total.shown.share, 2)
        (200, 0.88)
        """
        with self._lock:
            alphas, experts = getattr(self, "alphas", None), getattr(self, "expert_weights", None)
            heard = int(self._tally[HEARD])
            return Summary(
                kind=type(self).__name__,
                n_labels=len(self.labels),
                rounds=self.rounds,
                verdicts=heard,
                open_decisions=self.rounds - heard,
                total=since_the_start(self._tally, self.labels),
                recent=lately(self._tally, self.labels),
                alphas=None if alphas is None else tuple(alphas.tolist()),
                expert_weights=None if experts is None else tuple(experts.tolist()),
                trees=_count(self._committee.forest) if isinstance(self._committee, TreeCommittee) else None,
                memory=self.memory_usage,
                max_memory=self.max_memory,
            )

    def tree(self: Model, number: int, label: Hashable = ...) -> TreeView:
        """A picture of one tree: print it, or give `to_graphviz()` to Graphviz.

        Args:
            number: which of the `n_learners` trees, from 0 on.
            label: whose tree, if every label has trees of its own (BinBandit, GapBoost and the epsilon-greedy trees).

        >>> from banditboost import AdaFull
        >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     model.learn_one({"age": age % 50}, "yes" if age % 50 < 25 else "no")
        >>> model.tree(0).n_leaves
        2
        """
        with self._lock:
            forest = _forest_of(self)
            if (
                not isinstance(number, (int, np.integer))
                or isinstance(number, bool)
                or not 0 <= number < self.n_learners
            ):
                raise ParameterError(
                    f"number is {number!r}; give the number of a tree, from 0 to {self.n_learners - 1}"
                )
            title = f"{type(self).__name__}, tree {number}"
            if not self.has_groups:
                if label is not ...:
                    raise LabelError(
                        f"label is {label!r}, but the trees of {type(self).__name__} serve all labels; leave it out"
                    )
                return view_tree(forest, int(number), self.schema, self.labels, title)
            group = _group_of(self, label)
            return view_tree(
                forest,
                group * self.n_learners + int(number),
                self.schema,
                _BINARY,
                f"{title} of {one_line(label)}",
            )

    def feature_importances(self: Model) -> dict[Hashable, float]:
        """Each feature's share of what all splits of all trees have gained (information gain times weight); all 0 before the first split.

        >>> from banditboost import AdaFull
        >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     model.learn_one({"age": age % 50, "noise": age % 7}, "yes" if age % 50 < 25 else "no")
        >>> {name: round(share, 2) for name, share in model.feature_importances().items()}
        {'age': 0.97, 'noise': 0.03}
        """
        with self._lock:
            forest = _forest_of(self)
            n_nodes = int(forest.head["n_nodes"][0])
            feature, gain = forest.steps["feature"][:n_nodes], forest.nodes["gain"][:n_nodes]
            splits = feature >= 0
            gains = np.bincount(feature[splits], gain[splits], len(self.schema))
            shares = gains / gains.sum() if gains.sum() > 0.0 else gains
            return dict(zip(self.schema.names, shares.tolist(), strict=True))


def _forest_of(model: Model) -> Forest:
    if not isinstance(model._committee, TreeCommittee):
        raise ParameterError(
            f"{type(model).__name__} has no trees to look into; make it with weak_learner=HoeffdingTree(), or use AdaBandit"
        )
    return model._committee.forest


def _group_of(model: Model, label: Hashable) -> int:
    try:
        group = model._made_group(model._index[label])
    except (KeyError, TypeError):
        raise LabelError(
            f"label is {label!r}; give the label whose tree you want, one of {model.labels[:10]!r}"
        ) from None
    if group < 0:
        raise LabelError(
            f"label {label!r} has no trees yet: they are made when the first verdict on it is learned"
        )
    return group


def _count(forest: Forest) -> Trees:
    n_nodes, head = int(forest.head["n_nodes"][0]), forest.head[0]
    leaves = forest.steps["feature"][:n_nodes] < 0
    asleep = int(np.count_nonzero(forest.nodes["asleep"][:n_nodes][leaves]))
    return Trees(
        len(forest.trees),
        int(np.count_nonzero(leaves)),
        asleep,
        bool(head["nodes_full"] or head["entries_full"]),
    )
