"""`banditboost run --url`: a service plays a stream, and ends with the model that `play` ends with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.core.files import differing
from tests.serve.serving import serving

NOT_THE_SAME = {
    *("saved", "seconds", "rounds_per_second", "memory_bytes"),
    *("greedy_accuracy", "greedy_mean_reward", "exploration_cost"),  # an answer tells them nearly
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = SQLiteStore(tmp_path_factory.mktemp("store"), "normal")
    with serving(create_app(SoloService(ServiceSettings(), store))) as address:
        yield address


def _played(bb: Any, *words: str) -> dict[str, Any]:
    done = bb("run", *words, "--json")
    assert done.exit_code == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return {name: value for name, value in told.items() if name not in NOT_THE_SAME}


@pytest.mark.parametrize("learner", ["GapBoost", "AdaBandit"])
def test_a_service_ends_with_the_same_model_as_play(
    bb: Any, address: str, tmp_path: Path, learner: str
) -> None:
    words = ("car", "--rounds", "150", "--n-learners", "3", "--seed", "5", "--learner", learner)
    here = _played(bb, *words, "--save", str(tmp_path / "here.bb"))
    there = _played(
        bb, *words, "--save", str(tmp_path / "there.bb"), "--url", address, "--model", f"car {learner}"
    )
    assert there == here
    assert differing((tmp_path / "here.bb").read_bytes(), (tmp_path / "there.bb").read_bytes()) == []


def test_rewards_are_played_too(bb: Any, address: str, home: Path) -> None:
    rows = [f"{t % 7},{t % 3},{(t * t) % 5},{t % 2}" for t in range(60)]
    (home / "prices.csv").write_text("hour,price_a,price_b,price_c\n" + "\n".join(rows) + "\n")
    words = ("prices.csv", "--rewards", "price_*", "--reward-range", "0:5", "--n-learners", "2")
    assert _played(bb, *words, "--url", address) == _played(bb, *words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--resume", "x.bb", "--url", "http://127.0.0.1:9"), "--resume and --url"),
        (("--learner", "AdaFull", "--url", "{address}"), "told the right label"),
        (("--url", "{address}", "--key", "x", "--model", "a" * 200), "128"),
    ],
)
def test_refusals(bb: Any, address: str, words: tuple[str, ...], told: str) -> None:
    done = bb("run", "car", "--rounds", "9", *(word.format(address=address) for word in words))
    assert done.exit_code in (1, 2)
    assert told in done.stderr


def test_a_model_that_is_there_is_left_alone(bb: Any, address: str) -> None:
    words = ("run", "car", "--rounds", "9", "--n-learners", "2", "--url", address, "--model", "mine")
    assert bb(*words).exit_code == 0
    assert "the service has a model 'mine'; give another name" in bb(*words).stderr
