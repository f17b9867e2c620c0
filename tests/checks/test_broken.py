"""Each check finds what it is for: of one broken thing for every rule, exactly that rule is found broken."""

from __future__ import annotations

from typing import Any

import pytest

from banditboost import checks
from tests.boosting.kernels import INTERPRETED
from tests.checks import broken

PYTHON_ONLY = pytest.mark.skipif(INTERPRETED, reason="what is broken is Python either way")


def found_by(all_checks: tuple[Any, ...], thing: Any) -> dict[str, str]:
    """The rules that are broken, and what is said about each."""
    found = {}
    for check in all_checks:
        try:
            check(thing)
        except AssertionError as error:
            found[check.__name__] = str(error)
    return found


def test_there_is_a_broken_thing_for_every_rule() -> None:
    assert list(broken.BOOSTERS) == [check.__name__ for check in checks.booster_checks()]
    assert list(broken.LEARNERS) == [check.__name__ for check in checks.weak_learner_checks()]


@PYTHON_ONLY
@pytest.mark.parametrize("name", broken.BOOSTERS)
def test_a_broken_booster_is_found_by_the_check_of_its_rule(name: str) -> None:
    found = found_by(checks.booster_checks(), broken.BOOSTERS[name])
    assert list(found) == [name], found
    assert found[name].startswith(f"{name}: ")
    assert "\nSeen: " in found[name]


@pytest.mark.parametrize("name", broken.LEARNERS)
def test_a_broken_learner_is_found_by_the_check_of_its_rule(name: str) -> None:
    found = found_by(checks.weak_learner_checks(), broken.LEARNERS[name])
    assert list(found) == [name], found
    assert found[name].startswith(f"{name}: ")


@PYTHON_ONLY
def test_what_the_broken_ones_are_made_of_is_sound() -> None:
    checks.check_booster(broken.Sound)
    checks.check_weak_learner(broken.Votes)
    checks.check_weak_learner(broken.Costs)


@PYTHON_ONLY
def test_a_broken_model_can_be_given_as_it_is() -> None:
    with pytest.raises(AssertionError, match="stops growing"):
        checks.check_booster(broken.Hoarding())


@pytest.mark.parametrize("thing", [3, "a booster", object])
def test_what_is_no_booster_or_learner_is_told_so(thing: Any) -> None:
    with pytest.raises(AssertionError, match="decide"):
        checks.check_booster(thing)
    with pytest.raises(AssertionError, match="predict"):
        checks.check_weak_learner(thing)
