"""What all boosters share: N weak learners, and what a lesson for them is written into."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from banditboost.boosting.costs import LESSONS
from banditboost.boosting.python_round import PythonCalls
from banditboost.boosting.round import ANEW, NEXT, NONE
from banditboost.errors import LabelError, ParameterError
from banditboost.inspection.changes import Watch, new_watch
from banditboost.inspection.trees import TreeView, count_trees, importances, view_tree
from banditboost.memo import CHOSEN_EXPERT, VOTES
from banditboost.models.bandit import BanditModel
from banditboost.models.calls import GO_ON, LEARNED, Calls
from banditboost.models.locking import locked
from banditboost.models.model import Model
from banditboost.rows.features import feature_table
from banditboost.rows.schema import Schema
from banditboost.text import quoted, visible
from banditboost.trees.forest import LEARN_FOREST
from banditboost.trees.layout import Forest
from banditboost.types import Array, Record
from banditboost.validation import check_choice, check_count, check_number
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.protocol import Committee, plain_learner
from banditboost.weak_learners.python_committee import PythonCommittee
from banditboost.weak_learners.tree_committee import TreeCommittee

_BINARY = ("wrong", "right")


class Scratch(NamedTuple):
    """Of the call that is running. Nothing here is saved."""

    allowed: Array  # how many labels may be shown (0: all), then these, in increasing order
    labels: Array  # the lesson: what each learner is to learn,
    importance: Array  # and with what weight
    lesson: Array  # where it stopped, if there is no room for the rest (boosting/round.py),
    example: Array  # and the row that it is about


class CostScratch(NamedTuple):
    """Of the call that is running, in a booster that teaches by cost vectors."""

    allowed: Array
    labels: Array
    importance: Array
    lesson: Array
    example: Array
    suffered: Array  # the sum of the losses chat_h of each learner, which `play` sets back
    costs: Array  # [N, k]: the cost vectors of the lesson, for learners in Python; else there is no room


class BoosterState(NamedTuple):
    """A booster as its round reads it."""

    settings: Record
    features: Array
    ledger: Array
    learned: Any  # a named tuple: counts, tally, and whatever else the booster has learned
    watch: Watch
    forest: Forest
    learn_trees: Any
    scratch: Any


class Booster(Model):
    """A model with weak learners.

    A kind of booster sets `compiled_round` and says what it has learned (`learned`).

    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["sports", "politics"], n_learners=5, seed=7)
    >>> model.add_label("science")
    >>> len(model.labels)
    3
    """

    default_tree: ClassVar[HoeffdingTree] = HoeffdingTree()
    has_groups: ClassVar[bool] = False
    """Whether each label has learners of its own, which answer "was it right?"."""
    has_costs: ClassVar[bool] = False
    """Whether there is a cost vector for each learner, as Algorithm 1 has it."""
    _committee: Committee

    def __init__(
        self,
        labels: Iterable[Hashable],
        *,
        n_learners: int,
        weak_learner: Any,
        schema: Schema | None,
        max_memory: int,
        seed: int | None,
        clip: float | None = 100.0,
        importance_scale: float = 1.0,
        tie_tolerance: float = 1e-9,
        **others: Any,
    ) -> None:
        self.n_learners = check_count("n_learners", n_learners, 1, 10_000)
        self.weak_learner = self.default_tree if weak_learner is None else weak_learner
        self._lesson = {
            "clip": None if clip is None else check_number("clip", clip, 0.0, 1e12, open_low=True),
            "importance_scale": check_number("importance_scale", importance_scale, 0.0, 1e12, open_low=True),
            "tie_tolerance": check_number("tie_tolerance", tie_tolerance, 0.0, 1e6),
        }
        super().__init__(labels, schema=schema, max_memory=max_memory, seed=seed, **others)

    def _start(self) -> None:
        """Make the learners, and set up what a booster keeps beside them."""
        self._settings.n_learners = self.n_learners
        clip = self._lesson["clip"]
        self._settings.largest_weight = math.inf if clip is None else clip
        self._settings.importance_scale = self._lesson["importance_scale"]
        self._settings.tie_tolerance = self._lesson["tie_tolerance"]
        self._watch = new_watch(self._n_watched())
        self._table = feature_table(self._schema)
        self._committee = self._make_committee()
        self._make_learners()
        self._make_scratch()

    def _n_watched(self) -> int:
        """Lines of the test for changes: one for all labels, or one for each."""
        return 1

    def _make_learners(self) -> None:
        """Make the learners that there are from the beginning."""
        self._committee.add(self.n_learners)

    def _n_classes(self) -> int:
        """What each learner chooses among: the labels, or wrong and right."""
        return 2 if self.has_groups else len(self.labels)

    def _make_scratch(self) -> None:
        n = self.n_learners
        self._scratch: Any = Scratch(
            allowed=np.zeros(1 + len(self.labels), np.int64),
            labels=np.zeros(n, np.int64),
            importance=np.zeros(n),
            lesson=np.array([NONE, 0]),
            example=np.zeros(len(self._schema)),
        )

    def _make_committee(self) -> Committee:
        if isinstance(self.weak_learner, HoeffdingTree):
            return TreeCommittee(
                self.weak_learner, self._n_classes(), self._schema, self.seed, self.max_memory
            )
        return PythonCommittee(self.weak_learner, self._n_classes(), self._schema, self.has_costs)

    def learned(self) -> Any:
        """What was learned besides the learners: a named tuple that begins with counts and tally."""
        raise NotImplementedError

    def counted(self) -> tuple[Record, Array]:
        """Counts and tally, which every booster has."""
        return self._counts, self._tally

    def _state(self) -> Any:
        own = {"settings": self._settings, "ledger": self._ledger, "scratch": self._scratch}
        return BoosterState(learned=self.learned(), watch=self._watch, **own, **self._learners())

    def _learners(self) -> dict[str, Any]:
        """The learners as a round reads them."""
        forest = self._committee.forest
        return {"features": self._table, "forest": forest, "learn_trees": LEARN_FOREST}

    def _bind(self) -> Calls:
        if isinstance(self._committee, PythonCommittee):
            return PythonCalls(type(self), self._state(), self._committee, self._ask_python)
        return super()._bind()

    def _ask_python(self, x: Array, memo: Array) -> None:
        """Line 5 for learners that are Python objects: their answers go where those of trees would."""
        learners: Any = self._committee
        learners.vote(x, memo[VOTES : VOTES + self.n_learners])

    @property
    def _features(self) -> Array:
        return self._table

    def _n_in_memo(self) -> int:
        return self.n_learners

    def _finish_lesson(self) -> None:
        while self._scratch.lesson[NEXT] != NONE:
            if self._scratch.lesson[NEXT] == ANEW:
                self._begin_anew()
                return
            calls = self._calls
            if calls.learn(calls.model, self._blank, float(GO_ON), 0, 0, 0) != LEARNED:
                self._make_room()

    def _begin_anew(self) -> None:
        """A change was noticed: exchange the learners and their weights for new ones."""
        draft = self._draft()
        draft._start()
        draft._watch = self._watch
        draft._renew()
        self._become(draft)

    def _make_room(self) -> None:
        """Let the pool of the trees grow that has too little room, or free some of it."""
        committee = self._committee.with_room()
        calls = self._calls.with_part("forest", committee.forest)
        self.__dict__.update(_committee=committee, _calls=calls)

    def _own_parts(self) -> None:
        super()._own_parts()
        self._committee = self._committee.draft()

    def _follow_schema(self) -> None:
        self._table = feature_table(self._schema)
        self._committee.follow_schema(self._schema)
        if len(self._scratch.example) != len(self._schema):
            self._make_scratch()
        super()._follow_schema()

    def _follow_labels(self) -> None:
        self._make_scratch()
        self._committee.set_labels(self._n_classes())

    # Files and copies

    @property
    def parameters(self) -> dict[str, Any]:
        own = {"n_learners": self.n_learners, "weak_learner": self.weak_learner}
        return {**own, **self._lesson, "max_memory": self.max_memory, "seed": self.seed}

    def _records(self) -> list[Array]:
        return [array for array in self._committee.forest if array.dtype.names]

    def _plain_parameters(self) -> dict[str, Any]:
        return {**self.parameters, "weak_learner": plain_learner(self.weak_learner)}

    def _learner_states(self) -> list[Any]:
        return self._committee.states()

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **self._committee.arrays()}

    def _restore_learners(self, arrays: dict[str, Array], states: list[Any]) -> None:
        self._committee.restore(arrays, states, self._n_learners_made())

    def _n_learners_made(self) -> int:
        """How many learners a file of this model holds."""
        return self.n_learners

    # What can be seen

    @property
    def memory_usage(self) -> int:
        """Bytes held by the learners and the booster."""
        return super().memory_usage + self._committee.memory_usage

    def _weights_to_show(self) -> dict[str, Any]:
        return {"trees": None if self._committee.in_python else count_trees(self._committee.forest)}

    def _group_of(self, label: int) -> int:  # noqa: ARG002 (one group serves all labels)
        """The number of the group of learners that a label has; -1 if none was made yet."""
        return 0

    @locked
    def tree(self, number: int, label: Hashable = ...) -> TreeView:
        """A picture of one tree: print it, or give `to_graphviz()` to Graphviz.

        Args:
            number: which of the `n_learners` trees, from 0 on.
            label: whose tree, if every label has trees of its own (BinBandit, GapBoost and the epsilon-greedy
                trees).

        >>> from banditboost import AdaFull
        >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     model.learn_one({"age": age % 50}, "yes" if age % 50 < 25 else "no")
        >>> model.tree(0).n_leaves
        2
        """
        forest = self._trees_to_show()
        number = check_count("number", number, 0, self.n_learners - 1)
        title = f"{type(self).__name__}, tree {number}"
        if not self.has_groups:
            if label is not ...:
                raise LabelError(
                    f"label is {quoted(label)}, but the trees of {type(self).__name__} serve all labels; "
                    "leave it out"
                )
            return view_tree(forest, number, self._schema, self.labels, title)
        first = self._group_to_show(label) * self.n_learners
        return view_tree(forest, first + number, self._schema, _BINARY, f"{title} of {visible(label)}")

    @locked
    def feature_importances(self) -> dict[Hashable, float]:
        """Each feature's share of what all splits of all trees have gained (information gain times weight);
        all 0 before the first split.

        >>> from banditboost import AdaFull
        >>> model = AdaFull(["yes", "no"], n_learners=5, seed=1)
        >>> for age in range(200):
        ...     model.learn_one({"age": age % 50, "noise": age % 7}, "yes" if age % 50 < 25 else "no")
        >>> {name: round(share, 2) for name, share in model.feature_importances().items()}
        {'age': 0.97, 'noise': 0.03}
        """
        return importances(self._trees_to_show(), self._schema)

    def _trees_to_show(self) -> Forest:
        if self._committee.in_python:
            raise ParameterError(
                f"{type(self).__name__} has no trees to look into; make it with "
                "weak_learner=HoeffdingTree(), or use GapBoost"
            )
        return self._committee.forest

    def _group_to_show(self, label: Hashable) -> int:
        try:
            group = self._group_of(self._index[label])
        except (KeyError, TypeError, ValueError):
            raise LabelError(
                f"label is {quoted(label)}; give the label whose tree you want, one of "
                f"{quoted(self.labels[:10])}"
            ) from None
        if group < 0:
            raise LabelError(
                f"label {quoted(label)} has no trees yet: they are made when the first verdict on it is "
                "learned"
            )
        return group

    def __repr__(self) -> str:
        size = f"{len(self.labels)} labels, n_learners={self.n_learners}"
        return f"{type(self).__name__}({size}, rounds={self.rounds}, seed={self.seed})"


class CostBooster(Booster):
    """A booster that teaches its learners by cost vectors, as Algorithm 1 has it.

    `lesson` says how a vector becomes the label and weight that a tree is taught (costs.py): AdaBandit,
    OptBandit, AdaFull, OptFull and the mixtures have it. A learner in Python may take the vector itself.
    """

    has_costs = True

    def __init__(self, labels: Iterable[Hashable], *, lesson: str, **parameters: Any) -> None:
        self.lesson = check_choice("lesson", lesson, LESSONS)
        super().__init__(labels, **parameters)

    def _start(self) -> None:
        super()._start()
        self._settings.lesson = LESSONS.index(self.lesson)

    def _make_scratch(self) -> None:
        super()._make_scratch()
        shape = (self.n_learners, len(self.labels)) if self._committee.in_python else (0, 0)
        self._scratch = CostScratch(
            **self._scratch._asdict(), suffered=np.zeros(self.n_learners), costs=np.zeros(shape)
        )

    def _suffered(self) -> Array:
        suffered: Array = self._scratch.suffered
        return suffered

    def _scores_of(self, memo: Array) -> Array:
        """The weighted votes of the expert that is asked, as `experts.expert_labels` sums them."""
        n, asked = self.n_learners, int(memo[CHOSEN_EXPERT]) + 1
        votes, weights = memo[VOTES : VOTES + asked], memo[VOTES + n : VOTES + n + asked]
        return np.bincount(votes.astype(np.int64), weights, len(self.labels))

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "lesson": self.lesson}


class BanditBooster(Booster, BanditModel):
    """A booster that hears only whether the label it showed was right: AdaBandit, OptBandit, BinBandit,
    MixBandit and GapBoost.
    """

    def __init__(
        self, labels: Iterable[Hashable], *, restart_on_change: bool = False, **parameters: Any
    ) -> None:
        if not isinstance(restart_on_change, bool):
            raise ParameterError(f"restart_on_change is {quoted(restart_on_change)}; give True or False")
        super().__init__(labels, **parameters)
        if restart_on_change and not isinstance(self.weak_learner, HoeffdingTree):
            raise ParameterError(
                "restart_on_change is True, but the weak learners are Python objects; leave it out, or give "
                "a HoeffdingTree"
            )
        self._settings.restarts = restart_on_change

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, "restart_on_change": bool(self._settings.restarts)}

    def _is_watching(self) -> bool:
        return bool(self._settings.restarts)

    @property
    def memory_usage(self) -> int:
        return super().memory_usage + (sum(a.nbytes for a in self._watch) if self._is_watching() else 0)

    def _weights_to_show(self) -> dict[str, Any]:
        return {**super()._weights_to_show(), **self._changes_to_show()}

    def _arrays(self) -> dict[str, Array]:
        return {**super()._arrays(), **self._watch_to_keep()}

    def _restore(self, arrays: dict[str, Array]) -> None:
        super()._restore(arrays)
        self._restore_watch(arrays)
