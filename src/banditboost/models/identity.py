"""Whose a decision is. No two decisions have the same model, branch, run and round.

    model    given to a model when it is made; files, copies and branches keep it
    branch   a path: empty for the model itself, a part more for each `branch()`, which tells at which round
    run      new whenever a model was loaded, copied, unpickled or forked, from its first decision on
    round    counted along the branch

A model learns the decisions of its own branch that were made by the runs that led to it, and those of all
branches below. So verdicts are told apart even where rounds are not: two models that were loaded from one
file decide for the same rounds, in two runs; so does a model that was loaded from an old file after a
crash.

Nothing but the four names decides this. A copy of a model, or one that was loaded from an older file,
therefore learns the decisions of branches, too: after a crash the workers that hold branches can go on.
Each model learns each decision once; to send it to one model only is up to the caller.
"""

from __future__ import annotations

import bisect
import copy
import hashlib
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.errors import DecisionError
from banditboost.io.container import take_array
from banditboost.io.header import MOST_ROUNDS
from banditboost.io.values import UnreadableError
from banditboost.models.ledger import Ledger
from banditboost.rows.vocabulary import LabelDigests, Vocabulary
from banditboost.types import Array

_PART = re.compile("([0-9a-f]{1,14})-[0-9a-f]{16}")
_RUN = re.compile("[0-9a-f]{16}")
_MOST_SEED = 2**63 - 1
_NOTHING_TOLD: dict[str, Any] = {
    "branch": "",
    "runs": [],
    "verdicts_elsewhere": 0,
    "below": [],
}  # by files of older versions

# A forked child and its parent must not go on in the same run. A count tells them apart, where a list of all
# that runs would have to be told of each draft that is dropped: Python loses an exception from outside that
# is raised in code which runs when an object goes.
FORKS = [0]
"""How many forks have led to this process; what began to run before the last of them has ended."""


def _count_fork() -> None:
    FORKS[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def draw_seed(seed: int, branch: str) -> int:
    """The seed of a branch's random numbers; the model itself draws with its own."""
    if not branch:
        return seed
    digest = hashlib.sha256(f"{seed}/{branch}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & _MOST_SEED


def _first_round(branch: str) -> int:
    """The round at which a branch begins, -1 if there can be no such branch."""
    rounds = [0]
    for name in branch.split("/") if branch else ():
        part = _PART.fullmatch(name)
        rounds.append(int(part[1], 16) if part else -1)
    return rounds[-1] if rounds == sorted(rounds) and rounds[-1] <= MOST_ROUNDS else -1


def _named(branch: str) -> str:
    return f"branch {branch!r}" if branch else "the model itself"


class Identity:
    """A model's branch, the runs that led to it, and which decisions of it and below it were learned."""

    __slots__ = (
        "_below",
        "branch",
        "digests",
        "forks",
        "ledger",
        "model_id",
        "origin",
        "runs",
        "verdicts_elsewhere",
    )

    def __init__(self, model_id: str, branch: str = "", first: int = 0) -> None:
        self.model_id, self.branch = model_id, branch
        self.ledger = Ledger(first)
        self.runs: list[tuple[int, str]] = []  # the first round and the name of each, in their order
        self.verdicts_elsewhere = 0  # in the tally, on decisions of other branches
        self._below: dict[tuple[str, str], Ledger] = {}  # by branch and run
        self.digests = LabelDigests()  # of the model's labels
        self.origin: Origin | None = None  # of the latest run's decisions, once there is one
        self.forks = FORKS[0]  # when that run began

    def draft(self) -> Identity:
        """A copy in which a run may begin and rounds may be opened, before it takes this one's place."""
        return copy.copy(self)

    # Runs and branches

    def begin_run(self, round_: int, vocabulary: Vocabulary | None = None) -> Origin:
        """Called before the first decision of a run; a branch's decisions need a vocabulary."""
        self.runs = [*self.runs, (round_, os.urandom(8).hex())]
        self.forks = FORKS[0]
        self.origin = Origin(self.model_id, self.branch, self.runs[-1][1], vocabulary)
        return self.origin

    def end_run(self) -> None:
        """What comes next is decided by another run: the model was loaded or copied."""
        self.origin = None

    def go_on(self) -> None:
        """Go on in the last run after a load.

        For those only who know that nobody else has gone on in it: two models that decide in one run cannot
        be told apart.
        """
        self.forks = FORKS[0]
        self.origin = Origin(self.model_id, self.branch, self.runs[-1][1])

    def branched_off(self, rounds: int) -> Identity:
        """A new branch that begins after so many rounds."""
        part = f"{rounds:x}-{os.urandom(8).hex()}"
        return Identity(self.model_id, f"{self.branch}/{part}" if self.branch else part, rounds)

    def gone_on(self, model_id: str, vocabulary: Callable[[], Vocabulary]) -> Identity:
        """This branch as another copy of its model goes on with it: in the same run, if one has begun."""
        if model_id != self.model_id or not self.branch:
            raise DecisionError(
                f"the branch is {_named(self.branch)} of model {self.model_id}, and this is model {model_id};"
                " give a branch of this model"
            )
        made = self.draft()
        made.ledger, made._below = copy.deepcopy(self.ledger), {}
        if self.origin is not None:
            made.origin = Origin(model_id, self.branch, self.origin.run, vocabulary())
        return made

    # Verdicts

    def check(self, decision: Decision, rounds: int) -> None:
        """Refuse a decision that is not for this model to learn, or not any more; nothing changes.

        Args:
            rounds: how many times the model has decided.
        """
        origin, round_ = decision._origin, decision._round
        if origin.model != self.model_id:
            raise DecisionError(
                f"the decision of round {round_} was made by model {origin.model}, this is {self.model_id};"
                " learn it there"
            )
        if origin.branch == self.branch:
            self._check_run(origin.run, round_)
            self.ledger.check(round_, rounds)
        else:
            self._check_below(origin.branch, round_)
            ledger = self._below.get((origin.branch, origin.run))
            if ledger is not None and round_ < ledger.opened:
                ledger.check(round_, ledger.opened)

    def _check_run(self, run: str, round_: int) -> None:
        """The run that this model, or the one that it is a copy of, was in when it came to this round."""
        place = bisect.bisect_right(self.runs, round_, key=lambda begun: begun[0])
        if run != (self.runs[place - 1][1] if place else ""):
            raise DecisionError(
                f"the decision of round {round_} was made by another run of this model,"
                f" {run or 'one of an older version'}: by a copy, or by one that was lost when the model"
                " was loaded from an older file. Learn it with the model that made it; copies whose decisions"
                " this model is to learn are made with model.branch()"
            )

    def _check_below(self, branch: str, round_: int) -> None:
        """Of decisions that are not of the model's own branch it learns those of branches below."""
        below = branch and (not self.branch or branch.startswith(f"{self.branch}/"))
        if not below or not 0 <= _first_round(branch) <= round_ < MOST_ROUNDS:
            raise DecisionError(
                f"the decision of round {round_} was made by {_named(branch)}, and this is"
                f" {_named(self.branch)}; a model learns its own decisions and those of branches made from"
                " it: learn it with the one that made it"
            )

    def close(self, decision: Decision) -> None:
        """Write down that a decision of a branch below was learned. To do it twice is to do it once."""
        origin, round_ = decision._origin, decision._round
        names = origin.branch, origin.run
        ledger = self._below.get(names) or Ledger(_first_round(origin.branch))
        if round_ >= ledger.opened:
            ledger = ledger.opened_up_to(round_ + 1)
        ledger.close(round_)
        self._below[names] = ledger

    @property
    def memory_usage(self) -> int:
        return sum(ledger.memory_usage for ledger in (self.ledger, *self._below.values()))

    # Files

    def to_plain(self) -> dict[str, Any]:
        """What the header of a file tells of it."""
        below = [
            [*names, ledger.opened, len(ledger.to_array(ledger.opened))]
            for names, ledger in self._below.items()
        ]
        return {
            "branch": self.branch,
            "runs": [list(run) for run in self.runs],
            "verdicts_elsewhere": self.verdicts_elsewhere,
            "below": below,
        }

    def arrays(self, rounds: int) -> dict[str, Array]:
        """The ledgers as a file keeps them, after so many rounds."""
        below = [ledger.to_array(ledger.opened) for ledger in self._below.values()]
        return {
            "ledger": self.ledger.to_array(rounds),
            **({"ledgers_below": np.concatenate(below)} if below else {}),
        }

    @classmethod
    def restored(
        cls, model_id: str, rounds: int, plain: dict[str, Any], arrays: dict[str, Array]
    ) -> Identity:
        """Go on from what a file tells, after a look at all of it."""
        told = plain or _NOTHING_TOLD
        branch: Any = told.get("branch")
        runs: Any = told.get("runs")
        below: Any = told.get("below")
        _demand(isinstance(branch, str) and 0 <= _first_round(branch) <= rounds)
        identity = cls(model_id, branch, _first_round(branch))
        _demand(_are_runs(runs, identity.ledger.first, rounds))
        identity.runs = [(round_, name) for round_, name in runs]
        identity.verdicts_elsewhere = told["verdicts_elsewhere"]
        identity.ledger.restore(take_array(arrays, "ledger", np.uint8, (None,)), rounds)
        _demand(isinstance(below, list) and bool(below) == ("ledgers_below" in arrays))
        if below:
            identity._restore_below(below, take_array(arrays, "ledgers_below", np.uint8, (None,)))
        return identity

    def _restore_below(self, below: list[Any], bits: Array) -> None:
        at = 0
        for told in below:
            _demand(isinstance(told, list) and [type(value) for value in told] == [str, str, int, int])
            branch, run, opened, size = told
            try:
                self._check_below(branch, opened - 1)
            except DecisionError:
                _demand(False)
            _demand(_RUN.fullmatch(run) and (branch, run) not in self._below and 0 <= size <= len(bits) - at)
            ledger = Ledger(_first_round(branch))
            ledger.restore(bits[at : at + size], opened)
            self._below[branch, run] = ledger
            at += size
        _demand(at == len(bits))


def _are_runs(runs: Any, first: int, rounds: int) -> bool:
    """Whether these can be the runs of a branch, which begins with a first round and has come to so many."""
    if not isinstance(runs, list) or not all(
        isinstance(run, list) and [type(value) for value in run] == [int, str] and _RUN.fullmatch(run[1])
        for run in runs
    ):
        return False
    begun = [first, *(round_ for round_, _ in runs), rounds]
    return begun == sorted(begun)


def _demand(good: Any) -> None:
    if not good:
        raise UnreadableError(
            "what the header tells of branches and runs is not possible; load an intact copy"
        )
