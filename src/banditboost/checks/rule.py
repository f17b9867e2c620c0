"""What a check is.

A check is a function whose docstring states a rule. It raises an AssertionError that says how the rule was
broken.
"""

from __future__ import annotations

import functools
import inspect
import io
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[], Any]
Check = Callable[[Any], None]
_STRETCHES = 8
_MOST_GROWTH = 1.0  # bytes a round: below that nothing is kept of a round but a bit or two


def rule(maker: Callable[[Any], Make]) -> Callable[[Callable[[Make], None]], Check]:
    """Make a check of a function: `maker` turns what the user gives into something that makes fresh ones."""

    def stated(function: Callable[[Make], None]) -> Check:
        @functools.wraps(function)
        def check(given: Any) -> None:
            try:
                function(maker(given))
            except AssertionError as error:
                raise AssertionError(f"{_statement(function)}\nSeen: {error}") from error.__cause__
            except Exception as error:
                raise AssertionError(
                    f"{_statement(function)}\nSeen: {type(error).__name__}: {error}"
                ) from error

        return check

    return stated


def checked_maker(factory: Make, look: Callable[[Any], object]) -> Make:
    """Let `look` see all that a factory makes before it is used; it raises an AssertionError at what cannot
    be checked."""

    def make() -> Any:
        made = factory()
        look(made)
        return made

    return make


def _statement(function: Callable[..., Any]) -> str:
    rule_in_words = " ".join((inspect.getdoc(function) or "").split())
    return f"{function.__name__}: {rule_in_words}"


def expect(holds: object, seen: str) -> None:
    """Like `assert`, but also when Python runs with -O."""
    if not holds:
        raise AssertionError(seen)


class _Fields(pickle.Pickler):
    """Pickle record arrays field by field.

    What lies between the fields of a record means nothing and need not be copied.
    """

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, np.ndarray) and thing.dtype.names:
            return dict, ([(name, thing[name].tobytes()) for name in thing.dtype.names],)
        return NotImplemented


def fingerprint(thing: Any) -> bytes:
    """All that a thing refers to: the same as long as nothing in it changes."""
    out = io.BytesIO()
    _Fields(out).dump(thing)
    return out.getvalue()


def expect_bounded(thing: Any, go_on: Callable[[], None], rounds: int) -> None:
    """All that a thing refers to is in its pickle.

    `go_on` gives it the next `rounds` rounds, always of the same few rows: where something is kept of each,
    the pickle grows in every stretch; tables that double grow in some.
    """
    sizes = [len(pickle.dumps(thing))]
    for _ in range(_STRETCHES):
        go_on()
        sizes.append(len(pickle.dumps(thing)))
    least = min((after - before) / rounds for before, after in itertools.pairwise(sizes))
    expect(
        least < _MOST_GROWTH,
        f"in each of {_STRETCHES} stretches of {rounds} rounds it grew, by {least:.1f} bytes a round or more",
    )
