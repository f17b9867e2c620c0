"""What must hold at every door: only the package's own errors come out, they can be printed, and nothing has changed."""

from __future__ import annotations

import contextlib
import io
import math
import unicodedata
from collections.abc import Callable
from typing import Any

from banditboost.errors import BanditBoostError
from tests.fuzz.models import demand, look_at_shares
from tests.models.interrupting import lock_is_free, settled_state

REFUSED, ACCEPTED = "refused", "accepted"
LONGEST_MESSAGE = 20_000


def attempt(call: Callable[[], Any]) -> tuple[Any, BanditBoostError | None]:
    """What a call returns, or the error of the package's that it raised."""
    try:
        return call(), None
    except BanditBoostError as error:
        message = str(error)
        look_at_text(message)
        demand(message.strip(), "the error says nothing")
        demand(len(message) <= LONGEST_MESSAGE, f"the message has {len(message)} characters")
        return None, error


def attempt_with(model: Any, call: Callable[[], Any]) -> tuple[Any, BanditBoostError | None]:
    """The same of a call with a model, which has not changed if the call is refused."""
    before = settled_state(model)
    result, error = attempt(call)
    if error is not None:
        after = settled_state(model)
        changed = [name for name in before if before[name] != after.get(name)]
        demand(not changed, f"the call was refused ({error}) and has changed {changed}")
    demand(lock_is_free(model), "the lock is held")
    return result, error


def look_at_text(text: str) -> None:
    """Refuse text that would do more on a terminal than be read."""
    for character in text:
        bad = unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"
        demand(not bad, f"{character!r} is to be printed in {text[:200]!r}")


def look_at_decision(decision: Any, labels: Any) -> None:
    """A label that the model has, and sound probabilities."""
    demand(decision.label in dict.fromkeys(labels), "the label is none of the model's")
    demand(0.0 < decision.probability <= 1.0, f"the probability is {decision.probability}")
    shares, error = attempt(decision.distribution)
    if error is None:
        look_at_shares(shares)
        told = shares[decision.label]
        demand(math.isclose(told, decision.probability, rel_tol=1e-9), f"{told} and {decision.probability}")


def run_command(arguments: list[str]) -> int:
    """Run a command of the command line; its exit code. What it prints is harmless."""
    import typer

    from banditboost.cli.app import app

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = typer.main.get_command(app).main(arguments, "banditboost", standalone_mode=False)
    look_at_text(printed.getvalue())
    demand(code in (0, 1, 2), f"the exit code is {code!r}")
    return int(code)
