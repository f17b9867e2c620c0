"""Calls in any order on one model and on its copies from files and pickles, which stay equal to the last bit."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost import Decision, HoeffdingTree, Schema, baselines, schedules
from tests.boosting.states import bytes_of
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt_with, look_at_decision
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand, look_at_summary

_TREE = HoeffdingTree(grace_period=2.0, split_confidence=0.9, tie_threshold=0.9)
_KINDS = (
    "AdaBandit",
    "OptBandit",
    "BinBandit",
    "GapBoost",
    "Banditron",
    "DiagonalSOBA",
    "Majority",
    "Random",
    "EpsilonGreedyTree",
)
_RATES = (
    0.1,
    0.5,
    0.9,
    "adaptive",
    "decaying",
    schedules.Adaptive(memory=3.0),
    0.0,
    1.0,
    2,
    None,
    "divided",
    "x",
)
_foreign: list[Decision] = []


def prepare() -> None:
    """Compile every kind; one model's decisions are foreign to all others."""
    for kind in _KINDS:
        model = _make(kind, None)
        decision = model.decide({"a": 1.0, "b": "x"})
        model.learn(decision, True)
        model.learn(model.branch().decide({"a": 1.0}), True)
        banditboost.play(model, [{"a": 1.0}], ["p"])
        _foreign.append(decision)


def _make(kind: str, schema: Schema | None) -> Any:
    if kind in ("Banditron", "DiagonalSOBA", "Majority", "Random"):
        return getattr(baselines, kind)(["p", "q", "r"], schema=schema, seed=3)
    home = banditboost if hasattr(banditboost, kind) else baselines
    size = {} if kind == "EpsilonGreedyTree" else {"n_learners": 2}
    return getattr(home, kind)(
        ["p", "q", "r"], weak_learner=_TREE, schema=schema, seed=3, max_memory=1 << 20, **size
    )


class Sequence:
    """A model, its copies, and what they must have counted.

    Each copy makes and learns decisions of its own; those of a branch, and those from before it was made, all
    learn alike.
    """

    def __init__(self, luck: Luck, folder: Path) -> None:
        self.luck, self.folder = luck, folder
        self.kind = luck.choice(_KINDS)
        schema = Schema(numeric=["a"], nominal={"b": ["x", "y"]}) if luck.chance(0.3) else None
        self.models = [_make(self.kind, schema)]
        self.open: list[list[Decision]] = []  # for each decision: of each copy its own
        self.learned: list[list[Decision]] = []
        self.branches: list[Any] = []
        self.rounds = self.verdicts = self.refused = 0
        self.told: list[str] = []

    def step(self) -> None:
        call = self.luck.choice(_CALLS)
        self.told.append(call.__name__)
        call(self)
        for model in self.models:
            demand(model.rounds == self.rounds, f"{model.rounds} rounds, not {self.rounds}")
            demand(model.verdicts == self.verdicts, f"{model.verdicts} verdicts, not {self.verdicts}")

    def all(self, call: Any, *each: list[Any]) -> list[Any] | None:
        """The same call of every copy: all return alike, or all refuse alike."""
        answers = [
            attempt_with(model, lambda model=model, given=given: call(model, *given))  # type: ignore[misc]
            for model, *given in zip(self.models, *each, strict=True)
        ]
        errors = {type(error) for _, error in answers}
        demand(len(errors) == 1, f"one copy refuses what another does: {errors}")
        if answers[0][1] is not None:
            self.refused += 1
            return None
        return [answer for answer, _ in answers]

    def row(self) -> Any:
        if self.luck.chance(0.2):
            return values.row(self.luck)
        row = {"a": self.luck.gauss(0, 1), "b": self.luck.choice("xy")}
        if self.luck.chance(0.1):
            row[f"new {self.luck.randrange(3)}"] = self.luck.choice((1.0, "z"))
        return row

    def take(self, made: list[Decision]) -> None:
        for decision in made:
            look_at_decision(decision, self.models[0].labels)
        first = made[0]
        same = all(other.label == first.label and other.probability == first.probability for other in made)
        demand(same, f"copies decide otherwise: {made}")
        self.open.append(made)

    # The calls

    def decide(self) -> None:
        row, allowed = self.row(), None
        if self.luck.chance(0.2):
            labels = list(self.models[0].labels)
            allowed = self.luck.sample(labels, self.luck.randint(0, len(labels)))
        made = self.all(lambda model: model.decide(_fresh(row), allowed))
        if made is not None:
            self.rounds += 1
            self.take(made)

    def decide_many(self) -> None:
        rows = [self.row() for _ in range(self.luck.randint(0, 3))]
        made = self.all(lambda model: model.decide_many([_fresh(row) for row in rows]))
        if made is not None:
            self.rounds += len(rows)
            for each in zip(*made, strict=True):
                self.take(list(each))

    def learn(self) -> None:
        if not self.open:
            return
        told = self.open.pop(self.luck.randrange(len(self.open)))
        if self.luck.chance(0.3):
            told = [_travelled(self.luck, decision) for decision in told]
        verdict = self.luck.chance(0.5)
        done = self.all(lambda model, decision: model.learn(decision, verdict), self.for_all(told))
        demand(done is not None, "an open decision was refused")
        self.verdicts += 1
        self.learned.append(told)

    def for_all(self, told: list[Decision]) -> list[Decision]:
        """For each copy its own decision; of copies that were made later, the first one's."""
        return told + told[:1] * (len(self.models) - len(told))

    def learn_many(self) -> None:
        n = self.luck.randint(0, min(3, len(self.open)))
        told, self.open = self.open[:n], self.open[n:]
        verdicts = [self.luck.chance(0.5) for _ in told]
        if told and self.luck.chance(0.2):
            verdicts[-1] = None  # type: ignore[call-overload]
        each = [list(decisions) for decisions in zip(*map(self.for_all, told), strict=True)] or [
            [] for _ in self.models
        ]
        if self.all(lambda model, decisions: model.learn_many(decisions, verdicts), each) is None:
            self.open = told + self.open
        else:
            self.verdicts += n
            self.learned += told

    def learn_again(self) -> None:
        if self.learned:
            told = self.luck.choice(self.learned)
            done = self.all(lambda model, decision: model.learn(decision, True), self.for_all(told))
            demand(done is None, "a decision was learned twice")

    def learn_foreign(self) -> None:
        decision = self.luck.choice(_foreign) if self.luck.chance(0.7) else values.thing(self.luck)
        demand(self.all(lambda model: model.learn(decision, True)) is None, "a foreign decision was learned")

    def add_label(self) -> None:
        label = f"label {len(self.models[0].labels)}" if self.luck.chance(0.5) else values.name(self.luck)
        if len(self.models[0].labels) < 12 and self.all(lambda model: model.add_label(label)) is not None:
            self.branches.clear()  # their labels are fewer, and their decisions stay valid; new ones are made

    def remove_label(self) -> None:
        """A label goes, or one that has gone comes back; odd ones are refused."""
        model, odd = self.models[0], values.thing(self.luck)
        label = self.luck.choice(model.labels) if self.luck.chance(0.8) else odd
        if self.luck.chance(0.5):
            self.all(lambda model: model.remove_label(label))
        elif model.removed_labels:
            back = self.luck.choice(model.removed_labels)
            demand(self.all(lambda model: model.add_label(back)) is not None, "a label could not come back")

    def branch(self) -> None:
        if len(self.branches) < 3:
            self.branches.append(self.models[0].branch())

    def decide_on_branch(self) -> None:
        if not self.branches:
            return
        branch, row = self.luck.choice(self.branches), self.row()
        decision, error = attempt_with(branch, lambda: branch.decide(row))
        if error is not None:
            return
        verdict = self.luck.chance(0.5)
        done = self.all(lambda model: model.learn(decision, verdict))
        if done is not None:
            self.verdicts += 1
            self.learned.append([decision] * len(self.models))

    def save_and_load(self) -> None:
        path = self.folder / "model.bb"
        _, error = attempt_with(self.models[0], lambda: self.models[0].save(path))
        if error is None:  # a label may be something that no file holds
            self.copy(banditboost.load(path))

    def pickle(self) -> None:
        self.copy(pickle.loads(pickle.dumps(self.models[0])))

    def deep_copy(self) -> None:
        self.copy(copy.deepcopy(self.models[0]))

    def copy(self, made: Any) -> None:
        if len(self.models) < 3:
            self.models.append(made)
        else:
            self.models[1] = made
            for told in (*self.open, *self.learned):
                if len(told) > 1:
                    told[1] = told[0]

    def explore(self) -> None:
        if hasattr(type(self.models[0]), "exploration"):
            rate = self.luck.choice(_RATES) if self.luck.chance(0.8) else values.thing(self.luck)
            self.all(lambda model: setattr(model, "exploration", rate))

    def play(self) -> None:
        X = [self.row() for _ in range(self.luck.randint(0, 4))]
        y = [self.luck.choice("pqr") for _ in X]
        results = self.all(lambda model: banditboost.play(model, [_fresh(row) for row in X], y))
        if results is not None:
            demand(
                all(np.array_equal(results[0].shown, result.shown) for result in results),
                "copies play otherwise",
            )
            self.rounds += len(X)
            self.verdicts += len(X)

    def look(self) -> None:
        row = self.row()
        told = self.all(lambda model: model.distribution(_fresh(row)))
        demand(told is None or all(shares == told[0] for shares in told), "copies tell other probabilities")

    def finish(self) -> None:
        """All copies hold the same, bit for bit."""
        for model in self.models:
            look_at_summary(model.summary())
        first = _contents(self.models[0])
        for other in self.models[1:]:
            found = _contents(other)
            differing = [name for name in first if first[name] != found.get(name)]
            demand(not differing and first.keys() == found.keys(), f"copies differ in {differing}")


def _fresh(row: Any) -> Any:
    """A row that can be gone through several times."""
    return values.copied(row) if isinstance(row, (dict, list)) else row


def _travelled(luck: Luck, decision: Decision) -> Decision:
    if luck.chance(0.5):
        return pickle.loads(pickle.dumps(decision))  # type: ignore[no-any-return]
    from tests.fuzz.checks import attempt

    data, error = attempt(decision.to_dict)
    return decision if error is not None else Decision.from_dict(data)


def _contents(model: Any) -> dict[str, Any]:
    arrays = {name: bytes_of(array) for name, array in model._arrays().items()}
    return {
        **arrays,
        "schema": repr(model.schema),
        "labels": repr((model.labels, model.removed_labels)),
        "parameters": repr(model.parameters),
    }


_CALLS = (
    Sequence.decide, Sequence.decide, Sequence.decide, Sequence.decide_many, Sequence.learn, Sequence.learn, Sequence.learn,
    Sequence.learn_many, Sequence.learn_again, Sequence.learn_foreign, Sequence.add_label, Sequence.remove_label,
    Sequence.branch,
    Sequence.decide_on_branch, Sequence.decide_on_branch, Sequence.save_and_load, Sequence.pickle, Sequence.deep_copy,
    Sequence.explore, Sequence.play, Sequence.look,
)  # fmt: skip


def play(luck: Luck, folder: Path) -> str:
    sequence = Sequence(luck, folder)
    try:
        for _ in range(luck.choice((5, 20, 60))):
            sequence.step()
        sequence.finish()
    except Exception as error:
        error.add_note(f"{sequence.kind}: {' '.join(sequence.told)}")
        raise
    return REFUSED if sequence.refused else ACCEPTED
