"""Headers that tell of impossible branches and runs: refused at once, and without much memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost.errors import ModelFileError
from tests.boosting.forged import forged
from tests.io.models import forge
from tests.models.lines import ROWS, make

HEX = "0123456789abcdef"
Change = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


def saved(path: Path) -> Path:
    """A branch that was loaded once, and has learned what two branches below it decided."""
    model = make()
    model.decide(ROWS[0])
    branch = model.branch()
    branch.learn(branch.decide(ROWS[0]), True)
    branch.save(path)
    branch = banditboost.load(path)
    for below in (branch.branch(), branch.branch()):
        branch.learn(below.decide(ROWS[0]), True)
    branch.decide(ROWS[1])
    branch.save(path)
    return path


def setting(key: str, value: Any) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:  # noqa: ARG001 (every change is given both)
        header["identity"][key] = value

    return change


def below(place: int, value: Any) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:  # noqa: ARG001 (as above)
        header["identity"]["below"][0][place] = value

    return change


def bits(name: str, size: int, value: int = 0) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:  # noqa: ARG001 (as above)
        arrays[name] = np.full(size, value, np.uint8)

    return change


def both(*changes: Change) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        for one in changes:
            one(header, arrays)

    return change


def same_twice(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:  # noqa: ARG001 (as above)
    header["identity"]["below"][1][:2] = header["identity"]["below"][0][:2]


DAMAGE: dict[str, Change] = {
    **{
        f"{key} is {str(value)[:20]}": setting(key, value)
        for key in ("branch", "runs", "verdicts_elsewhere", "below")
        for value in (
            None,
            5,
            -1,
            1.5,
            True,
            "x",
            "nonsense/1-" + HEX,
            {},
            [[]],
            [[1]],
            [5],
            ["abcd"],
            10**30,
            {"$float": "inf"},
        )
    },
    "no identity but one name": lambda header, arrays: header.update(identity={"branch": ""}),  # noqa: ARG005 (as above)
    "identity is a list": lambda header, arrays: header.update(identity=[]),  # noqa: ARG005 (as above)
    "a branch that begins later": setting("branch", f"ff-{HEX}"),
    "a branch that goes back": setting("branch", f"1-{HEX}/0-{HEX}"),
    "a branch of a million parts": setting("branch", "/".join([f"2-{HEX}"] * 1_000_000)),
    "a run before the branch": setting("runs", [[0, HEX]]),
    "a run to come": setting("runs", [[1, HEX], [99, HEX]]),
    "runs out of order": setting("runs", [[2, HEX], [1, HEX]]),
    "a run at half a round": setting("runs", [[1.0, HEX]]),
    "a run at true": setting("runs", [[True, HEX]]),
    "a run without a name": setting("runs", [[1, ""]]),
    "a run with a long name": setting("runs", [[1, HEX * 1000]]),
    "more verdicts elsewhere than there are": setting("verdicts_elsewhere", 10**6),
    "nobody below": setting("below", []),
    "a branch below that is not below": below(0, f"1-{HEX}"),
    "a branch below that is none": below(0, ""),
    "a run below without a name": below(1, ""),
    "a run below that is a number": below(1, 5),
    "rounds below before the branch": below(2, 0),
    "rounds below without end": below(2, 2**60),
    "rounds below beyond all numbers": below(2, 10**30),
    "rounds below with a ledger too short": below(2, 10**9),
    "a ledger below of less than nothing": below(3, -1),
    "a ledger below that is too long": below(3, 2),
    "a ledger below beyond all numbers": below(3, 10**30),
    "a branch below that is there twice": same_twice,
    "no ledgers below": lambda header, arrays: arrays.pop("ledgers_below"),  # noqa: ARG005 (as above)
    "ledgers below of another type": lambda header, arrays: arrays.update(ledgers_below=np.zeros(2)),  # noqa: ARG005 (as above)
    "ledgers below with too much": bits("ledgers_below", 3),
    "ledgers below with verdicts to come": bits("ledgers_below", 2, 255),
    "a ledger that is too long": bits("ledger", (1 << 21) + 1),
    "a ledger below longer than any": both(below(3, (1 << 21) + 1), bits("ledgers_below", (1 << 21) + 2)),
    "a ledger with verdicts to come": bits("ledger", 1, 255),
    "no ledger": lambda header, arrays: arrays.pop("ledger"),  # noqa: ARG005 (as above)
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("identity") / "branch.bb")


def test_the_file_is_good(path: Path) -> None:
    model = banditboost.load(path)
    assert (model.rounds, model.verdicts) == (3, 3)
    assert model.summary().open_decisions == 1
    assert len(model._identity.runs) == 2  # type: ignore[union-attr]


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_refused(path: Path, change: Change) -> None:
    forged = forge(path, change)
    banditboost.load(path)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as error:
            banditboost.load(forged)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "intact copy" in str(error.value)
    assert peak < 8 * forged.stat().st_size + 2_000_000


def test_a_file_without_an_identity_is_one_of_an_older_version(tmp_path: Path) -> None:
    model = make()
    decision = model.decide(ROWS[0])
    model.save(tmp_path / "model.bb")
    old = forge(tmp_path / "model.bb", lambda header, arrays: header.pop("identity"))  # noqa: ARG005 (as above)
    again = banditboost.load(old)
    told = forged(decision.to_dict(), format=1)
    again.learn(banditboost.Decision.from_dict(told), True)
    assert again.verdicts == 1
