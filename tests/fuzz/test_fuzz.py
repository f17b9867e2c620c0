"""Two minutes of fuzzing in all, and that the fuzzer sees what it is there to see."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz import __main__ as command
from tests.fuzz import doors, guided, harness
from tests.fuzz.checks import ACCEPTED, REFUSED
from tests.fuzz.doors import files
from tests.fuzz.doors.lives import KINDS, live
from tests.fuzz.harness import Cases, Door
from tests.fuzz.luck import Luck, random_case
from tests.fuzz.models import RECIPES

pytestmark = pytest.mark.filterwarnings("ignore")
forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
SECONDS = 120  # for all doors together


@forking
@pytest.mark.fuzz
@pytest.mark.parametrize("name", doors.NAMES)
def test_door(name: str, tmp_path: Path) -> None:
    """A finding is told with the command that plays it again: make it a case of the tests of its kind."""
    command_ = [
        sys.executable,
        "-m",
        "tests.fuzz",
        "--doors",
        name,
        "--seconds",
        str(SECONDS / len(doors.NAMES)),
    ]
    ended = subprocess.run(
        [*command_, "--keep", str(tmp_path)], cwd=guided.ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-6_000:] + ended.stderr[-2_000:]
    assert f" {REFUSED}" in ended.stdout or f" {ACCEPTED}" in ended.stdout


# The harness sees what it is there to see


def _die_of(sign: int) -> Any:
    def die(luck: Luck, folder: Path) -> str:  # noqa: ARG001
        os.kill(os.getpid(), sign)
        return ACCEPTED

    return die


def _raise(luck: Luck, folder: Path) -> str:  # noqa: ARG001
    raise IndexError("here")


def _take_memory(luck: Luck, folder: Path) -> str:  # noqa: ARG001
    return str(np.ones(harness.MOST_BYTES // 4).sum())


@forking
@pytest.mark.parametrize(
    ("play", "told"),
    [
        (_die_of(signal.SIGKILL), "FOUND crash, signal 9"),
        (_die_of(signal.SIGPROF), f"FOUND hang, over {harness.MOST_SECONDS} s of computing"),
        (_die_of(signal.SIGALRM), f"FOUND hang, over {harness.MOST_WAITING} s of waiting"),
        (_raise, "FOUND IndexError"),
        (_take_memory, "FOUND MemoryError"),
    ],
)
def test_faults_of_a_child_are_seen(play: Any, told: str) -> None:
    report = harness.play_random(Door(play), Cases("door", seed=1, count=2), lambda _: None)
    assert report.outcomes == {told: 2}
    assert [finding.data for finding in report.findings] == [random_case(1, "door", i) for i in range(2)]


@forking
def test_a_door_that_hangs_is_left() -> None:
    def hang(luck: Luck, folder: Path) -> str:  # noqa: ARG001
        while True:
            pass

    limit = harness.MOST_SECONDS
    harness.MOST_SECONDS = 1
    try:
        report = harness.play_random(Door(hang), Cases("door", seed=1, count=1), lambda _: None)
    finally:
        harness.MOST_SECONDS = limit
    assert report.outcomes.keys() == {"FOUND hang, over 1 s of computing"}


def test_a_finding_is_played_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse_sevens(luck: Luck, folder: Path) -> str:  # noqa: ARG001
        if luck.randrange(10) == 7:
            raise ZeroDivisionError("seven")
        return ACCEPTED

    monkeypatch.setattr(doors, "door", lambda _: Door(refuse_sevens))
    assert command.main(["--doors", "rows", "--count", "40", "--keep", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "1 kinds" in told
    kept = sorted(tmp_path.iterdir())
    assert kept
    for path in kept:
        case = path.read_text().splitlines()[0]
        for text in (str(path), case):
            assert command.main(["--replay", text]) == 1
            assert "ZeroDivisionError: seven" in capsys.readouterr().out


def test_an_unknown_door_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--doors", "rows,window"]) == 2
    assert "no door window" in capsys.readouterr().err


def test_bytes_say_what_is_chosen() -> None:
    one, other = Luck(b"12345678" + bytes([3, 5])), Luck(b"12345678" + bytes([3, 6]))
    assert [luck.getrandbits(8) for luck in (one, one)] == [3, 5]
    assert [luck.getrandbits(8) for luck in (other, other)] == [3, 6]
    assert one.getrandbits(64) == other.getrandbits(64) == random.Random(b"12345678").getrandbits(64)
    assert Luck(b"12345678").getrandbits(64) != Luck(b"12345679").getrandbits(64)


def test_kernels_are_not_instrumented() -> None:
    found = guided._kernel_modules()
    assert {"banditboost.trees.forest", "banditboost.boosting.adaptive", "banditboost.rows.checking"} <= found
    assert not {"banditboost.pending.store", "banditboost.text", "banditboost.datasets.tables.paths"} & found


# Two doors, a little of each in every run


@pytest.fixture(scope="module")
def crafter() -> files.Crafter:
    return files.Crafter(files.bases())


def test_crafted_files_are_refused_or_work(crafter: files.Crafter, tmp_path: Path) -> None:
    found = {ACCEPTED: 0, REFUSED: 0}
    with np.errstate(all="ignore"):
        for number in range(150):
            luck = Luck(random_case(3, "files", number))
            _, data, _ = crafter.craft(luck)
            found[files.look_at(data, luck, tmp_path)] += 1
    assert min(found.values()) > 15


def test_a_case_is_the_same_each_time(crafter: files.Crafter) -> None:
    again = files.Crafter({name: _file(crafter, name) for name in crafter.contents})
    cases = [random_case(3, "files", number) for number in range(20)]
    assert [crafter.craft(Luck(case)) for case in cases] == [again.craft(Luck(case)) for case in cases]
    assert len({crafter.craft(Luck(case))[1] for case in cases}) == 20


def _file(crafter: files.Crafter, name: str) -> bytes:
    contents = crafter.contents[name]
    return files._written(contents.header, contents.arrays)


def test_files_that_were_not_changed_are_accepted(crafter: files.Crafter, tmp_path: Path) -> None:
    assert len(crafter.contents) == len(RECIPES) + 2
    for name in crafter.contents:
        assert files.look_at(_file(crafter, name), Luck(b""), tmp_path) == ACCEPTED, name


@pytest.mark.parametrize("kind", KINDS)
def test_honest_models_are_never_refused(kind: str, tmp_path: Path) -> None:
    for number in range(8):
        with np.errstate(all="ignore"):
            life = live(random.Random(f"{kind}-{number}"), tmp_path, kind, n_rounds=90)
        assert life.model.rounds == 90, life.told
