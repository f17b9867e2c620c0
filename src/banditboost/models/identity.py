"""Whose a decision is. No two decisions have the same model, branch, run and round.

    model    given to a model when it is made; files and branches keep it
    branch   a path: empty for the model itself, one part more for each `branch()`. A part tells at which round it branched off
    run      new whenever a model was loaded, copied or unpickled, from its first decision on
    round    counted along the branch

A model learns decisions of its own branch, made by the runs that led to it, and those of branches below it. So verdicts are told apart even
where rounds are not: two models that were loaded from one file decide for the same rounds, in two runs; so does a model that was loaded
from an old file after a crash.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.errors import DecisionError
from banditboost.io.container import take_array
from banditboost.io.values import UnreadableError
from banditboost.models.ledger import Ledger
from banditboost.types import Array

_PART = re.compile("([0-9a-f]{1,14})-[0-9a-f]{16}")
_RUN = re.compile("[0-9a-f]{0,16}")
_MOST_SEED = 2**63 - 1


def draw_seed(seed: int, branch: str) -> int:
    """The seed of a branch's random numbers; the model itself draws with its own."""
    if not branch:
        return seed
    digest = hashlib.sha256(f"{seed}/{branch}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & _MOST_SEED


def _first_round(branch: str) -> int:
    """The round at which a branch begins, -1 if there can be no such branch."""
    part = _PART.fullmatch(branch.rpartition("/")[2])
    return int(part[1], 16) if part else -1


class Identity:
    """A model's own branch, the runs that led to it, and which decisions were learned: its own, and those of branches below it."""

    def __init__(self, model_id: str, branch: str = "", first: int = 0) -> None:
        self.model_id, self.branch = model_id, branch
        self.ledger = Ledger(first)
        self.runs: list[tuple[int, str]] = []  # the first round and the name of each
        self.verdicts_elsewhere = 0  # in the tally, on decisions of other branches
        self._below: dict[tuple[str, str], Ledger] = {}  # by branch and run
        self.origin: Origin | None = None  # of this run's decisions, once there is one

    def begin_run(self, round_: int) -> Origin:
        """Called with the first decision of a run."""
        self.runs = [*self.runs, (round_, os.urandom(8).hex())]
        self.origin = Origin(self.model_id, self.branch, self.runs[-1][1])
        return self.origin

    def end_run(self) -> None:
        """What comes next is decided by another run: the model was loaded or copied."""
        self.origin = None

    def branched_off(self, rounds: int) -> Identity:
        """A new branch that begins after so many rounds."""
        part = f"{rounds:x}-{os.urandom(8).hex()}"
        return Identity(self.model_id, f"{self.branch}/{part}" if self.branch else part, rounds)

    def ledger_for(self, decision: Decision) -> Ledger:
        """The ledger that a verdict on this decision is written down in; refuses what is not for this model to learn."""
        origin, round_ = decision._origin, decision._round
        if origin.model != self.model_id:
            raise DecisionError(
                f"the decision of round {round_} was made by model {origin.model}, this is {self.model_id}; learn it there"
            )
        if origin.branch == self.branch:
            self._check_run(origin.run, round_)
            return self.ledger
        return self._ledger_below(origin, round_)

    def _check_run(self, run: str, round_: int) -> None:
        mine = ""
        for first, name in self.runs:
            if first <= round_:
                mine = name
        if run != mine:
            raise DecisionError(
                f"the decision of round {round_} was made by another run of this model, {run or 'of an older version'}: by one that was lost when"
                " the model was loaded from an older file, or by a copy. Learn it with the model that made it; copies whose decisions this model"
                " is to learn are made with model.branch()"
            )

    def _ledger_below(self, origin: Origin, round_: int) -> Ledger:
        below = not self.branch or origin.branch.startswith(f"{self.branch}/")
        first = _first_round(origin.branch)
        if not below or not 0 <= first <= round_:
            raise DecisionError(
                f"the decision of round {round_} was made by branch {origin.branch or 'the model itself'!r}, and this is"
                f" {self.branch or 'the model itself'!r}; a model learns its own decisions and those of branches made from it"
            )
        ledger = self._below.setdefault((origin.branch, origin.run), Ledger(first))
        if round_ >= ledger.opened:
            ledger.open_up_to(round_ + 1)
        return ledger

    @property
    def memory_usage(self) -> int:
        return sum(ledger.memory_usage for ledger in (self.ledger, *self._below.values()))

    # Files

    def to_plain(self) -> dict[str, Any]:
        """What the header of a file tells of it."""
        below = [
            [branch, run, ledger.opened, ledger.memory_usage] for (branch, run), ledger in self._below.items()
        ]
        return {
            "branch": self.branch,
            "runs": [list(run) for run in self.runs],
            "verdicts_elsewhere": self.verdicts_elsewhere,
            "below": below,
        }

    def arrays(self) -> dict[str, Array]:
        below = [ledger.to_array() for ledger in self._below.values()]
        return {
            "ledger": self.ledger.to_array(),
            **({"ledgers_below": np.concatenate(below)} if below else {}),
        }

    @classmethod
    def restored(
        cls, model_id: str, rounds: int, plain: dict[str, Any], arrays: dict[str, Array]
    ) -> Identity:
        """Go on from what a file tells, after a look at all of it."""
        plain = plain or {"branch": "", "runs": [], "verdicts_elsewhere": 0, "below": []}
        try:
            branch, runs, learned, below = (
                plain["branch"],
                plain["runs"],
                plain["verdicts_elsewhere"],
                plain["below"],
            )
            first = _first_round(branch) if branch else 0
            identity = cls(model_id, branch, first)
            identity.runs = [(int(round_), _checked_run(run)) for round_, run in runs]
            firsts = [round_ for round_, _ in identity.runs]
            if (
                not 0 <= first <= rounds
                or firsts != sorted(firsts)
                or (firsts and not first <= firsts[0] <= firsts[-1] <= rounds)
            ):
                raise ValueError("rounds out of order")
            identity.verdicts_elsewhere = int(learned)
            identity._restore_below(below, arrays)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UnreadableError(
                "what the header tells of branches and runs is not possible; load an intact copy"
            ) from None
        identity.ledger.restore(take_array(arrays, "ledger", np.uint8, (None,)), rounds)
        return identity

    def _restore_below(self, below: list[Any], arrays: dict[str, Array]) -> None:
        bits, at = (
            (take_array(arrays, "ledgers_below", np.uint8, (None,)), 0)
            if below
            else (np.zeros(0, np.uint8), 0)
        )
        for branch, run, opened, size in below:
            ledger = Ledger(_first_round(branch))
            ledger.restore(bits[at : at + size], opened)
            self._below[branch, _checked_run(run)] = ledger
            at += size
        if (
            at != len(bits)
            or len(self._below) != len(below)
            or any(first < 0 for first in (ledger.first for ledger in self._below.values()))
        ):
            raise ValueError("ledgers do not fit the branches")


def _checked_run(run: Any) -> str:
    if not isinstance(run, str) or not _RUN.fullmatch(run):
        raise ValueError("no name of a run")
    return run
