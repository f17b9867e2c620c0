"""A branch goes on with what its model has learned meanwhile, as the same branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import banditboost
from banditboost import Decision
from banditboost.errors import DecisionError
from tests.boosting.states import difference, state_of
from tests.boosting.twins import DECIDERS
from tests.models.lines import JOURNEYS, ROWS, go_on, id_of, make, refused, taught


@pytest.fixture(params=JOURNEYS)
def sent(request: pytest.FixtureRequest) -> Callable[[Decision], Decision]:
    return JOURNEYS[request.param]


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refreshed(branch: Any, model: Any, folder: Path) -> Any:
    """The branch after a look at the file of the model that learns."""
    model.save(folder / "latest.bb")
    fresh = banditboost.load(folder / "latest.bb")
    fresh.go_on_as(branch)
    return fresh


def test_every_decision_is_learned_once(
    name: str, sent: Callable[[Decision], Decision], tmp_path: Path
) -> None:
    """Decisions before and after a refresh are of one branch and one run, and none is mistaken for another."""
    model = taught(name)
    branch, made = model.branch(), []
    for at in range(0, 12, 4):
        made += [branch.decide({**row, f"new{at}": "u"}) for row in ROWS[at : at + 4]]
        model.learn(sent(made[at]), True)
        branch = refreshed(branch, model, tmp_path)
    assert {id_of(decision)[:3] for decision in made} == {id_of(made[0])[:3]}
    assert [decision.round for decision in made] == list(range(20, 32))
    for at, decision in enumerate(made):
        if at % 4:
            model.learn(sent(decision), at % 3 == 0)
        assert "once" in refused(model, sent(decision))
    assert model.verdicts == 32
    assert len(model._plain_identity()["below"]) == 1


def test_it_decides_with_what_the_model_knows(name: str, tmp_path: Path) -> None:
    model = taught(name)
    branch = model.branch()
    branch.decide(ROWS[0])
    go_on(model, ROWS[20:50])
    fresh = refreshed(branch, model, tmp_path)
    assert set(difference(fresh, model)) <= {"ledger", "below", "rounds"}
    if name != "AdaBandit":  # it asks an expert that each branch draws by its own lot
        assert fresh.distribution(ROWS[3]) == model.distribution(ROWS[3])
    assert fresh.rounds == branch.rounds == 21
    assert fresh.verdicts == model.verdicts == 50


def test_it_draws_as_the_branch_would_have_drawn(name: str, tmp_path: Path) -> None:
    """With nothing new to know, a refresh changes nothing."""
    model = taught(name)
    branch = model.branch()
    branch.decide(ROWS[0])
    branch.save(tmp_path / "branch.bb")
    twin = banditboost.load(tmp_path / "branch.bb")
    fresh = refreshed(branch, model, tmp_path)
    for row in ROWS[:20]:
        mine, theirs = fresh.decide(row), twin.decide(row)
        assert (mine.label, mine.round, mine.distribution()) == (
            theirs.label,
            theirs.round,
            theirs.distribution(),
        )


def test_the_old_one_decides_apart(name: str) -> None:
    model = taught(name)
    old = model.branch()
    first = old.decide(ROWS[0])
    fresh = model.branch()
    fresh.go_on_as(old)
    theirs, mine = old.decide(ROWS[1]), fresh.decide(ROWS[1])
    assert theirs.round == mine.round == 21
    assert len({id_of(decision) for decision in (first, theirs, mine)}) == 3
    old.learn(theirs, True)
    for decision in (first, theirs, mine):
        model.learn(decision, True)
    fresh.learn(mine, True)


def test_what_is_no_branch_of_it_is_refused() -> None:
    model, other = taught(), taught()
    before = state_of(model)
    for given in (model, other, other.branch(), None):
        with pytest.raises(DecisionError, match="give"):
            model.go_on_as(given)
    assert state_of(model) == before


def test_a_branch_that_has_not_decided_yet() -> None:
    model = make()
    fresh = model.branch()
    fresh.go_on_as(model.branch())
    model.learn(fresh.decide(ROWS[0]), True)
    assert model.verdicts == 1
