"""Short runs of the fuzzers, and that they see what they are there to see."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz import files
from tests.fuzz.lives import KINDS, live
from tests.fuzz.models import RECIPES

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def crafter() -> files.Crafter:
    return files.Crafter(files.bases(), seed=3)


def test_crafted_files_are_refused_or_work(crafter: files.Crafter, tmp_path: Path) -> None:
    found = {}
    with np.errstate(all="ignore"):
        for number in range(300):
            name, data, told = crafter.craft(number)
            result, what = files.outcome(data, crafter.luck(-1 - number), tmp_path)
            assert result in files.SOUND, (number, name, told, what)
            found[result] = found.get(result, 0) + 1
    assert min(found[files.REFUSED], found[files.ACCEPTED]) > 30


def test_a_case_is_the_same_each_time(crafter: files.Crafter) -> None:
    again = files.Crafter({name: _file(crafter, name) for name in crafter._names}, seed=3)
    assert [crafter.craft(i)[2] for i in range(20)] == [again.craft(i)[2] for i in range(20)]
    assert len({crafter.craft(i)[1] for i in range(20)}) == 20


def _file(crafter: files.Crafter, name: str) -> bytes:
    contents = crafter._contents[name]
    return files._written(contents.header, contents.arrays)


def test_files_that_were_not_changed_are_accepted(crafter: files.Crafter, tmp_path: Path) -> None:
    assert len(crafter._names) == len(RECIPES) + 2
    for name in crafter._names:
        result = files.outcome(_file(crafter, name), random.Random(1), tmp_path)
        assert result == (files.ACCEPTED, ""), name


def _die_of(sign: int) -> Any:
    def die(data: bytes, luck: random.Random, folder: Path) -> tuple[str, str]:  # noqa: ARG001
        os.kill(os.getpid(), sign)
        return files.ACCEPTED, ""

    return die


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize(
    ("die", "told"),
    [
        (_die_of(signal.SIGKILL), "crash, signal 9"),
        (_die_of(signal.SIGVTALRM), "hang"),
        (lambda *_: ("NaN", "told"), "NaN"),
    ],
)
def test_faults_of_a_child_are_seen(
    crafter: files.Crafter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, die: Any, told: str
) -> None:
    monkeypatch.setattr(files, "outcome", die)
    number, found = files._batch(crafter, 5, 6, tmp_path, tmp_path / "kept")
    assert (number, dict(found)) == (6, {told: 1})
    assert (tmp_path / "kept" / "5.bb").read_bytes() == crafter.craft(5)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_honest_models_are_never_refused(kind: str, tmp_path: Path) -> None:
    for number in range(8):
        with np.errstate(all="ignore"):
            life = live(random.Random(f"{kind}-{number}"), tmp_path, kind, n_rounds=90)
        assert life.model.rounds == 90, life.told
