"""An exception from outside at a chosen line of the package, as Ctrl-C or a time limit would raise it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import banditboost
from tests.boosting.states import state_of

PACKAGE = str(Path(banditboost.__file__).parent)


class FromOutside(BaseException):
    """What a signal handler raises."""


class Interruption:
    """Raises FromOutside at line number `at` that is run within the package."""

    def __init__(self, at: int, within: str = PACKAGE) -> None:
        self._left, self._within, self.where, self.came_out = at, within, "", False

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self._within):
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                self.where = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{frame.f_lineno}"
                sys.settrace(None)
                raise FromOutside
        return self

    def strike(self, call: Callable[[], object]) -> None:
        """Make a call that is interrupted; `came_out` says whether the caller has heard of it."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call()
        except FromOutside:
            self.came_out = True
        finally:
            sys.settrace(before)


def interrupted(call: Callable[[], object], at: int) -> str:
    """Make a call that is interrupted at a line; where that was, or nothing if the call came to its end."""
    interruption = Interruption(at)
    interruption.strike(call)
    return interruption.where


def lines_of(call: Callable[[], object], within: str = PACKAGE) -> list[str]:
    """The lines of the package that a call runs through, in their order."""
    lines: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(within):
            return None
        if event == "line":
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


def first_and_last(lines: list[str]) -> list[int]:
    """Where each line is run for the first and for the last time, counted from 1."""
    first = {line: at for at, line in reversed(list(enumerate(lines, 1)))}
    last = {line: at for at, line in enumerate(lines, 1)}
    return sorted({*first.values(), *last.values()})


def lock_is_free(model: Any) -> bool:
    """Whether another thread could use the model."""
    answers: list[bool] = []

    def ask() -> None:
        answers.append(model._lock.acquire(blocking=False))
        if answers[0]:
            model._lock.release()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def settled_state(model: Any) -> dict[str, Any]:
    """What the model is when the next call begins: without what lies behind the nodes and rows in use."""
    model._settled()
    state = state_of(model)
    committee = getattr(model, "_committee", None)
    if committee is not None and not committee.in_python:
        forest = committee.forest
        n_nodes = int(forest.head["n_nodes"][0])
        for name in ("nodes", "steps"):
            array = getattr(forest, name)
            state[name] = len(array), [array[field][:n_nodes].tobytes() for field in array.dtype.names]
        state["stats"] = committee.arrays()["stats"].tobytes()
    state["verdicts elsewhere"] = getattr(getattr(model, "_identity", None), "verdicts_elsewhere", 0)
    state["labels"] = model.labels
    return state
