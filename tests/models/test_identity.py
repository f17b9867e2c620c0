"""A verdict is learned by the decision it belongs to, or refused with the reason."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Decision, PendingDecisions, play
from banditboost.models.identity import draw_seed
from tests.boosting.forged import forged
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS, MIXTURES
from tests.data.make_format_1 import FOLDER
from tests.models.lines import JOURNEYS, LABELS, ROWS, go_on, id_of, make, refused, taught, via_json
from tests.models.worker import ROOT, Worker

COPIERS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}
LEARNED_PARTS = {
    "ledger",
    "below",
    "rounds",
}  # what differs between a branch and its original that have learned alike


@pytest.fixture(params=JOURNEYS)
def sent(request: pytest.FixtureRequest) -> Callable[[Decision], Decision]:
    return JOURNEYS[request.param]


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Two processes


def test_two_processes_load_one_file(tmp_path: Path) -> None:
    """Each learns its own decisions and refuses the other's, with the reason and nothing changed."""
    taught().save(tmp_path / "model.bb")
    with Worker(tmp_path / "model.bb") as one, Worker(tmp_path / "model.bb") as other:
        mine, theirs = one.decide(ROWS[:3]), other.decide(ROWS[:3])
        assert [told["memo"] for told in mine] == [told["memo"] for told in theirs], (
            "both resume the line that was saved"
        )
        assert len({id_of(told) for told in mine + theirs}) == 6
        for told in theirs:
            reason = one.learn(told, True)
            assert "another run" in reason
            assert "model.branch()" in reason
        for worker, decisions in ((one, mine), (other, theirs)):
            assert [worker.learn(told, True) for told in decisions] == ["", "", ""]
            assert "once" in worker.learn(decisions[1], True)
            assert worker.counts() == {"rounds": 23, "verdicts": 23, "open": 0}
        assert "another run" in other.learn(mine[0], True)


@pytest.mark.parametrize("suffix", ["bb", "pickle"])
def test_a_branch_decides_in_another_process(tmp_path: Path, suffix: str) -> None:
    """What it decides the original learns, once each, as the branch would have learned it."""
    model = taught()
    branches = [model.branch() for _ in range(2)]
    paths = [tmp_path / f"{number}.{suffix}" for number in range(2)]
    for branch, path in zip(branches, paths, strict=True):
        branch.save(path) if suffix == "bb" else path.write_bytes(pickle.dumps(branch))
    with Worker(paths[0]) as one, Worker(paths[1]) as other:
        told = [*one.decide(ROWS[:6]), *other.decide(ROWS[:6])]
        assert "made by branch" in one.learn(told[6], True)
    own = go_on(model, ROWS[20:25])
    assert len({id_of(decision) for decision in [*told, *own]}) == 17
    assert {decision["branch"] for decision in told} == {branch._identity.branch for branch in branches}
    for decision in map(Decision.from_dict, told):
        model.learn(decision, True)
        assert "once" in refused(model, decision, True)
    assert model.verdicts == 37
    assert model.summary().open_decisions == 0


def test_a_forked_process_decides_in_a_run_of_its_own() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    script = """
import os, sys
from tests.models.lines import ROWS, id_of, taught
model = taught()
read, write = os.pipe()
child = os.fork()
decisions = [id_of(model.decide(row)) for row in ROWS[:2]]
if child == 0:
    os.write(write, repr(decisions).encode())
    os._exit(0)
os.waitpid(child, 0)
theirs = eval(os.read(read, 10_000))
assert [d[3] for d in decisions] == [d[3] for d in theirs] == [20, 21]
assert len({*decisions, *theirs}) == 4
assert len(model._identity.runs) == 1, "the parent goes on in its run"
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_a_restart_and_a_crash(tmp_path: Path) -> None:
    """Decisions that the file knows are learned; those of the lost stretch are told from those made since."""
    path = tmp_path / "model.bb"
    taught().save(path)
    with Worker(path) as first:
        known = first.decide(ROWS[:3])
        assert first.learn(known[0], True) == ""
        first.save(path)
        lost = first.decide(ROWS[3:6])
        assert first.learn(lost[0], False) == ""
    with Worker(path) as second:
        reason = second.learn(lost[0], False)
        assert "not one of this model's 23 decisions" in reason, "it has decided nothing yet"
        since = second.decide(ROWS[3:6])
        assert (
            [Decision.from_dict(told).round for told in since]
            == [Decision.from_dict(told).round for told in lost]
            == [23, 24, 25]
        )
        for told in lost:
            assert "another run" in second.learn(told, True)
        assert "once" in second.learn(known[0], True)
        assert [second.learn(told, True) for told in (known[1], *since, known[2])] == [""] * 5
        assert second.counts() == {"rounds": 26, "verdicts": 26, "open": 0}


# Copies


@pytest.mark.parametrize("copied", COPIERS.values(), ids=COPIERS.keys())
def test_copies_and_copies_of_copies(
    name: str, copied: Callable[[Any], Any], sent: Callable[[Decision], Decision]
) -> None:
    model = taught(name)
    before = model.decide(ROWS[0])
    family = [model, copied(model)]
    family += [copied(family[1]), copied(family[1])]
    after = [member.decide(ROWS[1]) for member in family]
    assert len({id_of(decision) for decision in after}) == 4
    for i, member in enumerate(family):
        for j, decision in enumerate(after):
            if i != j:
                assert "another run" in refused(member, sent(decision))
        assert member.summary().open_decisions == 2
        member.learn(sent(after[i]), True)
        member.learn(sent(before), True)
        assert "once" in refused(member, sent(before))
        assert member.summary().open_decisions == 0
    for member in family[1:]:
        assert difference(model, member) == []


def test_a_copy_that_played_takes_no_decision_of_the_original() -> None:
    """It has open rounds of the same numbers, whose verdicts were lost."""
    rng = np.random.default_rng(1)
    model = make()
    model.decide(rng.random(3))
    other = copy.deepcopy(model)
    play(other, rng.random((30, 3)), [LABELS[t % 3] for t in range(30)], lost=0.5)
    assert other.summary().open_decisions > 10
    for _ in range(20):
        assert "another run" in refused(other, model.decide(rng.random(3)))


def test_play_between_decisions() -> None:
    model, rng = make(), np.random.default_rng(1)
    rows = [{"x": float(x)} for x in rng.random(20)]
    first = model.decide(rows[0])
    play(model, rows, [LABELS[t % 3] for t in range(20)])
    second = model.decide(rows[0])
    branch = model.branch()
    play(branch, rows, [LABELS[t % 3] for t in range(20)])
    third = branch.decide(rows[0])
    assert (second.round, third.round) == (21, 42)
    model.learn_many([third, first, second], [True, False, True])
    assert (model.verdicts, model.summary().open_decisions) == (23, 0)
    assert (branch.verdicts, branch.summary().open_decisions) == (40, 1)


# Branches


def test_a_branch_draws_its_own_numbers() -> None:
    model = taught(exploration=0.9)
    branches = [model, *(model.branch() for _ in range(3))]
    shown = [[str(branch.decide(row).label) for row in ROWS] for branch in branches]
    assert len(set(map(tuple, shown))) == 4
    assert draw_seed(5, "") == 5
    assert len({draw_seed(seed, f"0-{number:016x}") for seed in range(10) for number in range(10)}) == 100
    assert all(0 <= draw_seed(2**63 - 1, f"0-{number:016x}") < 2**63 for number in range(100))


def test_the_original_learns_as_the_branch_does(name: str, sent: Callable[[Decision], Decision]) -> None:
    """To the last bit, whichever way the decision came."""
    model = taught(name)
    branch = model.branch()
    for t, row in enumerate(ROWS):
        decision = branch.decide({**row, "new": "at", "later": t} if t > 30 else row)
        model.learn(sent(decision), t % 3 == 0)
        branch.learn(decision, t % 3 == 0)
    assert set(difference(model, branch)) <= LEARNED_PARTS
    assert model.schema.names == ("x", "colour", "new", "later")


def test_branches_of_branches(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = taught(name)
    left, right = model.branch(), model.branch()
    leaf = left.branch()
    late = leaf.branch()
    family = {"": model, "left": left, "right": right, "leaf": leaf, "late": late}
    made = {key: member.decide(ROWS[0]) for key, member in family.items()}
    assert len({id_of(decision) for decision in made.values()}) == 5
    learners = {
        "": {"", "left", "right", "leaf", "late"},
        "left": {"left", "leaf", "late"},
        "right": {"right"},
        "leaf": {"leaf", "late"},
        "late": {"late"},
    }
    for key, member in family.items():
        for other, decision in made.items():
            if other in learners[key]:
                member.learn(sent(decision), True)
                assert "once" in refused(member, sent(decision))
            else:
                reason = refused(member, sent(decision))
                assert "a model learns its own decisions and those of branches made from it" in reason
        assert member.verdicts == 20 + len(learners[key])
        assert member.summary().open_decisions == 0


def test_a_branch_refuses_what_was_decided_before_it_was_made(sent: Callable[[Decision], Decision]) -> None:
    model = taught()
    before = model.decide(ROWS[0])
    branch = model.branch()
    assert "made by the model itself" in refused(branch, sent(before))
    assert branch.summary().open_decisions == 0
    model.learn(before, True)


def test_verdicts_after_the_original_was_saved_and_loaded(name: str, tmp_path: Path) -> None:
    model = taught(name)
    branch = model.branch()
    decisions = [branch.decide(row) for row in ROWS[:4]]
    model.learn(decisions[0], True)
    model.save(tmp_path / "model.bb")
    again = banditboost.load(tmp_path / "model.bb")
    assert again.memory_usage == model.memory_usage
    assert difference(model, again) == []
    assert "once" in refused(again, via_json(decisions[0]))
    for decision in decisions[1:]:
        again.learn(via_json(decision), True)
        model.learn(decision, True)
    assert difference(model, again) == []
    again.save(tmp_path / "again.bb")
    third = banditboost.load(tmp_path / "again.bb")
    for decision in decisions:
        assert "once" in refused(third, decision)
    third.learn(branch.decide(ROWS[4]), True)
    assert (third.verdicts, third.summary().open_decisions) == (25, 0)


def test_a_branch_that_is_saved_stays_a_branch(name: str, tmp_path: Path) -> None:
    model = taught(name)
    branch = model.branch()
    open_ = branch.decide(ROWS[0])
    branch.learn(branch.decide(ROWS[1]), True)
    branch.save(tmp_path / "branch.bb")
    again = banditboost.load(tmp_path / "branch.bb")
    assert difference(branch, again) == []
    assert again.summary().open_decisions == branch.summary().open_decisions == 1
    ours, theirs = again.decide(ROWS[2]), branch.decide(ROWS[2])
    assert np.array_equal(ours._memo, theirs._memo, equal_nan=True), "it resumes the line that was saved"
    assert ours.branch == theirs.branch
    assert ours.run != theirs.run
    assert "another run" in refused(again, theirs)
    again.learn(open_, True)
    for decision in (open_, ours, theirs):
        model.learn(via_json(decision), True)
    assert model.verdicts == 23
    leaf = again.branch()
    model.learn(leaf.decide(ROWS[3]), True)


def test_an_original_that_lost_the_branching_learns_its_decisions(tmp_path: Path) -> None:
    """The workers need not be stopped when the learner starts again from an older file."""
    model = taught()
    model.save(tmp_path / "old.bb")
    go_on(model, [{**row, "lost": 1.0} for row in ROWS[:5]])
    branch = model.branch()
    decision = branch.decide({"x": 1.0, "lost": 3.0})
    again = banditboost.load(tmp_path / "old.bb")
    go_on(again, [{**ROWS[0], "found": 1.0}])
    again.learn(via_json(decision), True)
    assert "once" in refused(again, via_json(decision))
    assert again.schema.names == ("x", "colour", "found", "lost")


def test_many_decisions_of_several_branches(name: str, sent: Callable[[Decision], Decision]) -> None:
    model = taught(name)
    branches = [model, model.branch(), model.branch()]
    branches += [branches[1].branch()]
    made = [branch.decide({**row, f"f{i}": "v"}) for row in ROWS[:5] for i, branch in enumerate(branches)]
    one = copy.deepcopy(model)
    verdicts = [t % 2 == 0 for t in range(len(made))]
    for decision, verdict in zip(made, verdicts, strict=True):
        one.learn(decision, verdict)
    model.learn_many(map(sent, made), verdicts)
    assert difference(model, one) == []
    assert model.schema.names == ("x", "colour", "f0", "f1", "f2", "f3")
    assert model.verdicts == 40


def test_if_one_of_many_is_refused_nothing_is_learned_and_nothing_joins() -> None:
    model = taught()
    model._schema.strict = True  # open, but a feature keeps its kind
    one, other = model.branch(), model.branch()
    good, bad = one.decide({"new": 1.0}), other.decide({"new": "red"})
    before = copy.deepcopy(model)
    for made in (
        [good, bad],
        [via_json(good), via_json(bad)],
        [good, via_json(good)],
        [good, taught().decide(ROWS[0])],
    ):
        with pytest.raises(banditboost.errors.DecisionError, match="decision 1"):
            model.learn_many(made, [True, True])
        assert difference(model, before) == []
        assert model.memory_usage == before.memory_usage
    model.learn_many([good], [True])
    assert "is numeric, but this row has 'red'" in refused(model, bad)


def test_memory_is_a_bit_for_each_decision() -> None:
    model = taught()
    branch = model.branch()
    before = model.memory_usage
    for t in range(1000):
        model.learn(branch.decide(ROWS[t % 60]), True)
    ledgers = list(model._identity._below.values())
    assert len(ledgers) == 1
    assert 125 <= ledgers[0].memory_usage <= 256
    assert model.memory_usage >= before + ledgers[0].memory_usage


# Stores


def _stored(pending: PendingDecisions) -> Any:
    return json.loads(json.dumps(pending.to_dict()))


@pytest.mark.parametrize("expired", ["as_wrong", "drop"])
def test_a_store_that_is_newer_than_the_model(tmp_path: Path, expired: Any) -> None:
    """Decisions of the rounds that were lost are refused, by a verdict and as wrong."""
    model = taught()
    pending = PendingDecisions(model, max_rounds=5, expired=expired)
    pending.decide("kept", ROWS[0])
    model.save(tmp_path / "model.bb")
    for key in ("lost", "lost too"):
        pending.decide(key, ROWS[1])
    again = banditboost.load(tmp_path / "model.bb")
    store = PendingDecisions.from_dict(_stored(pending), again)
    store.decide("since", ROWS[1])
    assert store.learn("lost", True) == "refused"
    assert "lost" not in store
    assert store.learn("kept", True) == store.learn("since", True) == "learned"
    assert again.verdicts == 22
    for t in range(5):
        store.decide(t, ROWS[t])
    assert store.expire() == 1, "no later than decisions that were added now"
    assert store.learn("lost", True) == "refused"
    assert store.learn("lost too", True) == "expired"
    assert store.counters["refused"] == (3 if expired == "as_wrong" else 2)
    assert again.verdicts == 22


def test_a_store_that_is_older_than_the_model(tmp_path: Path) -> None:
    """What the model has learned since is not learned again, neither by a verdict nor as wrong."""
    model = taught()
    pending = PendingDecisions(model, max_rounds=5)
    for key in ("learned", "late", "open"):
        pending.decide(key, ROWS[0])
    stale = _stored(pending)
    pending.learn("learned", True)
    pending.learn("late", True)
    model.save(tmp_path / "model.bb")
    again = banditboost.load(tmp_path / "model.bb")
    store = PendingDecisions.from_dict(stale, again)
    assert store.learn("learned", False) == "duplicate"
    assert store.learn("open", True) == "learned"
    assert again.verdicts == 23
    for t in range(6):
        store.decide(t, ROWS[t])
    store.expire()
    assert store.counters["refused"] == 1
    assert again.verdicts == 23


def test_a_store_keeps_decisions_of_branches() -> None:
    model = taught()
    branch = model.branch()
    pending = PendingDecisions(model)
    pending.add("visit", branch.decide({"new": "value"}))
    again = PendingDecisions.from_dict(_stored(pending), model)
    assert again.learn("visit", True) == "learned"
    assert pending.learn("visit", True) == "duplicate"
    assert model.verdicts == 21


# Files and decisions of older versions


@pytest.mark.parametrize("name", [name for name in DECIDERS if name not in MIXTURES])  # these came later
def test_decisions_of_older_versions(name: str) -> None:
    """They tell neither branch nor run; a file of that time learns them, and tells new ones from them."""
    told = json.loads((FOLDER / "format_1.json").read_text())[name]["pending"]["open"]
    old = [Decision.from_dict(stored) for *_, stored in told]
    assert {id_of(decision)[1:3] for decision in old} == {("", "")}
    model, other = (banditboost.load(FOLDER / f"format_1_{name}.bb") for _ in range(2))
    new, theirs = model.decide({}), other.decide({})
    assert new.round == theirs.round == 120
    assert "another run" in refused(model, theirs)
    made_up = Decision.from_dict(forged(old[0].to_dict(), memo=[120, *old[0].to_dict()["memo"][1:]]))
    assert "of an older version" in refused(model, made_up)
    for decision in old:
        model.learn(via_json(decision), True)
        assert "once" in refused(model, decision)
    model.learn(new, True)
    assert model.summary().open_decisions == model.rounds - model.verdicts


@pytest.mark.parametrize("version", [1, 2])
def test_older_formats_cannot_tell_a_branch(version: int) -> None:
    model = taught()
    branch = model.branch()
    told = forged(branch.decide(ROWS[0], allowed=["a", "b"]).to_dict(), format=version)
    with pytest.raises(banditboost.errors.DecisionError):
        model.learn(Decision.from_dict(told), True)
    assert model.verdicts == 20


CHANGES: dict[str, dict[str, Any]] = {
    "no run": {"run": ""},
    "another run": {"run": "xyz"},
    "run no text": {"run": 5},
    "branch no text": {"branch": 5},
    "no row": {"row": None},
    "a row of lists": {"row": {"x": [1]}},
    "an empty row": {"row": []},
    "an infinite number": {"row": {"x": {"$float": "inf"}}},
    "a number beyond all": {"row": [10**400]},
    "a broken row": {"row": {"$tuple": 1}},
    "no digest": {"labels_digest": None},
    "no branch at all": {"branch": "nonsense"},
    "a branch of nobody": {"branch": "nonsense/0-0123456789abcdef"},
    "a branch that begins later": {"branch": "ffff-0123456789abcdef"},
    "a branch that goes back": {"branch": "3-0123456789abcdef/2-0123456789abcdef"},
    "other labels": {"labels_digest": "0123456789abcdef"},
    "more labels": {"labels": 4},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_branchs_decision_that_was_changed_is_refused(change: dict[str, Any]) -> None:
    model = taught()
    told = forged(model.branch().decide(ROWS[0]).to_dict())
    before = copy.deepcopy(model)
    with pytest.raises(banditboost.errors.DecisionError):
        model.learn(Decision.from_dict({**told, **change}), True)
    for key in ("run", "row", "labels_digest"):
        with pytest.raises(banditboost.errors.DecisionError, match="whole dict"):
            Decision.from_dict({name: value for name, value in told.items() if name != key})
    for memo in (
        [2**60, *told["memo"][1:]],
        told["memo"][:-1],
        [*told["memo"], 0.0],
        [*told["memo"][:9], 7, *told["memo"][10:]],
    ):
        with pytest.raises(banditboost.errors.DecisionError):
            model.learn(Decision.from_dict({**told, "memo": memo}), True)
    assert difference(model, before) == []
    model.learn(Decision.from_dict(told), True)


def test_verdicts_on_a_branch_may_come_in_any_order() -> None:
    """Early rounds after late ones, and late ones far beyond all that came before."""
    model = taught()
    branch = model.branch()
    decisions = [branch.decide(ROWS[t % 60]) for t in range(300)]
    for t in (7, 299, 0, 150, 298):
        model.learn(decisions[t], True)
        assert "once" in refused(model, decisions[t])
    assert model.verdicts == 25
