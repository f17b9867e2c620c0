"""An exploration rate or schedule as compiled code reads it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost import schedules
from banditboost.boosting.exploration import (
    SCHEDULE_BY_ERROR,
    SCHEDULE_BY_ROUND,
    SCHEDULE_BY_VOTES,
    SCHEDULE_CONSTANT,
)
from banditboost.errors import ParameterError
from banditboost.schedules import Adaptive, Decaying, Divided, Schedule, Theory
from banditboost.text import quoted
from banditboost.types import Record
from banditboost.validation import is_number

Power = tuple[float, float]
"""A scale and an exponent: rho = scale / t^power."""


def checked(exploration: Any) -> float | Schedule:
    """A number in [0, 1) or a schedule."""
    given = schedules.from_plain(exploration)
    if isinstance(given, Schedule):
        return given
    number = isinstance(given, (int, float, np.integer, np.floating)) and is_number(given)
    if not number or not 0.0 <= given <= 1.0:
        raise ParameterError(
            f"exploration is {quoted(given)}; give a number in [0, 1], or a schedule, such as "
            "banditboost.schedules.Adaptive()"
        )
    if given == 1.0:
        raise ParameterError(
            "exploration is 1.0, so the greedy label would never be shown; give a number below 1"
        )
    if given == 0.0:
        warnings.warn(
            "exploration is 0: wrong rounds then teach nothing about other labels; give a small number, such "
            "as 0.01",
            stacklevel=_outside(),
        )
    return float(given)


def _outside() -> int:
    """How far above the caller the user's own code is: some models have constructors of their own between."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("banditboost."):
        level += 1
    return level


def least_rate(exploration: float | Schedule) -> float:
    """What the rate is in the end, or can be."""
    return exploration.least if isinstance(exploration, Schedule) else exploration


def write(exploration: float | Schedule, settings: Record, suggest: Callable[[float], Power | None]) -> None:
    """Set the rate.

    `suggest` tells what the theory says for this booster with learners of some edge, None if it says nothing.
    """
    settings.schedule = SCHEDULE_CONSTANT
    settings.least_rate = least_rate(exploration)
    settings.rate = exploration.most if isinstance(exploration, Schedule) else exploration
    if isinstance(exploration, Theory):
        _write_theory(exploration, settings, suggest(exploration.edge))
    elif isinstance(exploration, Decaying):
        _write_fall(settings, (exploration.scale, exploration.power))
    elif isinstance(exploration, Adaptive):
        settings.schedule = SCHEDULE_BY_ERROR
        settings.rate_scale = exploration.scale
        settings.error_memory = exploration.memory
    elif isinstance(exploration, Divided):
        settings.schedule = SCHEDULE_BY_VOTES


def _write_theory(given: Theory, settings: Record, suggested: Power | None) -> None:
    if suggested is None:
        raise ParameterError(
            f"exploration is {quoted(given)}; the theorems are about AdaBandit and OptBandit: give a number "
            "or Adaptive()"
        )
    if given.rounds is None:
        _write_fall(settings, suggested)
    else:
        scale, power = suggested
        settings.rate = max(given.least, min(given.most, scale * float(given.rounds) ** -power))


def _write_fall(settings: Record, fall: Power) -> None:
    settings.schedule = SCHEDULE_BY_ROUND
    settings.rate_scale, settings.rate_power = fall
