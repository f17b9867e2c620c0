"""Any interleaving of decide, learn, save, load, branch, copy and play: who learns what, told by sets."""

from __future__ import annotations

import copy
import pickle
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import banditboost
from banditboost import Decision, play
from banditboost.errors import DecisionError
from tests.boosting.kernels import INTERPRETED
from tests.models.lines import JOURNEYS, id_of, make

NUMBERS = st.integers(0, 10**6)
ROWS: list[dict[str, Any]] = [
    {},
    {"x": 1.0},
    {"y": 2.0, "x": 0.5},
    {"colour": "red"},
    {"colour": "green", "x": 3.0},
    {"y": 1.0},
]
Name = tuple[str, str, str, int]


@dataclass
class Line:
    """A model, and what is true of it: its branch, which decisions of its own it knows, what it learned."""

    model: Any
    branch: str = ""
    made: set[Name] = field(default_factory=set)
    learned: set[Name] = field(default_factory=set)
    has_played: bool = False

    def copied(self, model: Any) -> Line:
        return Line(model, self.branch, set(self.made), set(self.learned), self.has_played)

    def may_learn(self, name: Name) -> bool:
        above = name[1] != self.branch and name[1].startswith(f"{self.branch}/" if self.branch else "")
        return (name in self.made or above) and name not in self.learned


class Lines(RuleBasedStateMachine):
    """A few models that were one, at most eight at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.lines = [Line(make(labels=["a", "b"]))]
        self.files: list[tuple[Path, Line]] = []
        self.decisions: dict[Name, Decision] = {}
        self.names: list[Name] = []

    def teardown(self) -> None:
        self.folder.cleanup()

    def _keep(self, line: Line) -> None:
        self.lines = [*self.lines[-7:], line]

    def _note(self, line: Line, decision: Decision) -> None:
        name = id_of(decision)
        assert name not in self.decisions, "no two decisions have the same id"
        assert name[1] == line.branch
        self.decisions[name] = decision
        self.names.append(name)
        line.made.add(name)

    @rule(at=NUMBERS, row=st.sampled_from(ROWS))
    def decide(self, at: int, row: dict[str, Any]) -> None:
        line = self.lines[at % len(self.lines)]
        self._note(line, line.model.decide(row))

    @rule(at=NUMBERS, rows=st.lists(st.sampled_from(ROWS), max_size=3))
    def decide_many(self, at: int, rows: list[dict[str, Any]]) -> None:
        line = self.lines[at % len(self.lines)]
        for decision in line.model.decide_many(rows):
            self._note(line, decision)

    @precondition(lambda self: self.names)
    @rule(at=NUMBERS, which=NUMBERS, journey=st.sampled_from(list(JOURNEYS)), many=st.booleans())
    def learn(self, at: int, which: int, journey: str, many: bool) -> None:
        line, name = self.lines[at % len(self.lines)], self.names[-1 - which % min(len(self.names), 12)]
        decision, before = JOURNEYS[journey](self.decisions[name]), line.model.verdicts
        assert decision == self.decisions[name]

        def learn() -> None:
            line.model.learn_many([decision], [True]) if many else line.model.learn(decision, True)

        if line.may_learn(name):
            learn()
            line.learned.add(name)
            assert line.model.verdicts == before + 1
        else:
            with pytest.raises(DecisionError, match=r"round \d+ (was|is)"):
                learn()
            assert line.model.verdicts == before

    @rule(at=NUMBERS)
    def branch(self, at: int) -> None:
        line = self.lines[at % len(self.lines)]
        made = line.model.branch()
        path = made._identity.branch
        assert path.startswith(f"{line.branch}/" if line.branch else "")
        assert path not in {other.branch for other in self.lines}
        self._keep(Line(made, path))

    @rule(at=NUMBERS, pickled=st.booleans())
    def copy(self, at: int, pickled: bool) -> None:
        line = self.lines[at % len(self.lines)]
        self._keep(
            line.copied(pickle.loads(pickle.dumps(line.model)) if pickled else copy.deepcopy(line.model))
        )

    @rule(at=NUMBERS)
    def save(self, at: int) -> None:
        line = self.lines[at % len(self.lines)]
        path = Path(self.folder.name) / f"{len(self.files)}.bb"
        line.model.save(path)
        self.files.append((path, line.copied(None)))

    @precondition(lambda self: self.files)
    @rule(which=NUMBERS)
    def load(self, which: int) -> None:
        path, line = self.files[which % len(self.files)]
        self._keep(line.copied(banditboost.load(path)))

    @rule(at=NUMBERS)
    def play(self, at: int) -> None:
        line = self.lines[at % len(self.lines)]
        play(line.model, ROWS[1:4], ["a", "b", "a"], lost=0.5)
        line.has_played = True

    @invariant()
    def counts_agree(self) -> None:
        for line in self.lines:
            identity = line.model._identity
            assert identity.verdicts_elsewhere <= line.model.verdicts
            open_ = line.model.summary().open_decisions
            known = len(line.made) - len(line.learned & line.made)
            assert open_ >= known if line.has_played else open_ == known, "what play lost is open, too"


Lines.TestCase.settings = settings(
    max_examples=4 if INTERPRETED else 60, stateful_step_count=40, deadline=None
)
test_lines = Lines.TestCase
