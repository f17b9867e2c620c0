"""All values by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.numbers import (
    accuracy,
    bakeoff,
    departures,
    estimates,
    forms,
    joining,
    reliability,
    reproduction,
    sameness,
    speed,
    theory,
    weighting,
)

VALUES: dict[str, Callable[[], str]] = {
    **accuracy.VALUES,
    **bakeoff.VALUES,
    **departures.VALUES,
    **estimates.VALUES,
    **forms.VALUES,
    **joining.VALUES,
    **reliability.VALUES,
    **reproduction.VALUES,
    **sameness.VALUES,
    **speed.VALUES,
    **theory.VALUES,
    **weighting.VALUES,
}
