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
    service,
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
    **service.VALUES,
    **reproduction.VALUES,
    **sameness.VALUES,
    **speed.VALUES,
    **theory.VALUES,
    **weighting.VALUES,
}
