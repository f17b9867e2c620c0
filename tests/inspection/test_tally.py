"""The tally counts every verdict, whichever way it came, and survives files; what it says is recomputed here
from plain lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import banditboost
from banditboost import play
from banditboost.errors import ModelFileError
from banditboost.inspection.accuracy import Account, Accuracy, lately, since_the_start
from banditboost.inspection.tally import WINDOW, empty_tally, note_verdict
from banditboost.memo import GREEDY, PROBABILITY, SHOWN
from tests.baselines.models import NAMES as BASELINES
from tests.baselines.models import make as make_baseline
from tests.boosting.kernels import INTERPRETED, memo_of, settings_of
from tests.boosting.loops import close_round, open_round
from tests.boosting.streams import make_stream
from tests.boosting.twins import ALL_BOOSTERS, make_booster
from tests.io.models import forge, reloaded

ROUNDS = 40 if INTERPRETED else 300
STREAM = make_stream("mixed", 3, ROUNDS)


class Heard(NamedTuple):
    shown: int
    explored: bool
    right: bool
    probability: float


def make(name: str) -> Any:
    maker: Callable[..., Any] = (
        make_baseline if name in BASELINES else lambda name, labels: make_booster(name, len(labels), 4)
    )
    return maker(name, range(3))


def by_hand(model: Any, learned: Callable[[int], bool] = lambda _: True) -> list[Heard]:
    """Go through the stream and write down every verdict that was learned."""
    heard = []
    for t, (x, y) in enumerate(zip(STREAM.X, STREAM.y.tolist(), strict=True)):
        opened = open_round(model, x)
        memo = getattr(opened, "_memo", opened)
        if learned(t):
            close_round(model, opened, y)
            heard.append(
                Heard(
                    int(memo[SHOWN]),
                    bool(memo[SHOWN] != memo[GREEDY]),
                    int(memo[SHOWN]) == y,
                    float(memo[PROBABILITY]),
                )
            )
    return heard


def check(account: Account, heard: list[Heard]) -> None:
    """Against the definitions, in plain loops."""
    assert account.shown == Accuracy.of(sum(one.right for one in heard), len(heard))
    for label in range(3):
        mine = [one.right for one in heard if one.shown == label]
        assert account.by_label.get(label) == (Accuracy.of(sum(mine), len(mine)) if mine else None)
    assert account.explored == pytest.approx(sum(one.explored for one in heard) / len(heard))
    weights = [(1 / one.probability, one.right) for one in heard if not one.explored]
    total = sum(weight for weight, _ in weights)
    assert account.greedy.share == pytest.approx(sum(weight for weight, right in weights if right) / total)
    assert account.greedy.verdicts == pytest.approx(total**2 / sum(weight**2 for weight, _ in weights))
    assert account.cost == pytest.approx(account.greedy.share - account.shown.share)


@pytest.mark.parametrize("name", [*ALL_BOOSTERS, *BASELINES])
def test_every_model_counts_what_it_hears(name: str) -> None:
    model = make(name)
    heard = by_hand(model, lambda t: t % 4 > 0)
    summary = model.summary()
    assert (summary.rounds, summary.verdicts, summary.open_decisions) == (
        ROUNDS,
        len(heard),
        ROUNDS - len(heard),
    )
    check(summary.total, heard)
    check(summary.recent, heard)


@pytest.mark.parametrize("name", [*ALL_BOOSTERS, *BASELINES])
def test_play_and_files_tell_the_same(name: str, tmp_path: Path) -> None:
    one, other = make(name), make(name)
    play(one, STREAM.X, STREAM.y)
    by_hand(other)
    assert one._tally.tobytes() == other._tally.tobytes()
    told, expected = one.summary().to_dict(), other.summary().to_dict()
    assert {**told, "memory": 0} == {**expected, "memory": 0}  # ledgers grow in other steps
    copy = reloaded(one, tmp_path / "a")
    assert copy._tally.tobytes() == one._tally.tobytes()


def test_the_window_holds_the_last_thousand_verdicts() -> None:
    settings, tally, heard = settings_of(3), empty_tally(3), []
    draw = np.random.default_rng(1)
    for _ in range(2 * WINDOW + 300):
        one = Heard(
            int(draw.integers(3)),
            bool(draw.random() < 0.3),
            bool(draw.random() < 0.8),
            float(draw.uniform(0.05, 1.0)),
        )
        memo = memo_of((one.shown + one.explored) % 3, one.shown, one.probability)
        note_verdict(settings, tally, memo, int(one.right))
        heard.append(one)
    check(since_the_start(tally, range(3)), heard)
    check(lately(tally, range(3)), heard[-WINDOW:])
    assert lately(tally, range(3)).shown.verdicts == 1000


@pytest.mark.skipif(INTERPRETED, reason="takes thousands of rounds")
@pytest.mark.parametrize("name", ["AdaBandit", "GapBoost"])
def test_the_greedy_labels_accuracy_is_estimated(name: str) -> None:
    """A simulation knows it: the estimate from the shown labels alone must come close, and exploring must
    cost something.
    """
    stream = make_stream("mixed", 5, 4000)
    model = make_booster(name, 5, 5, **({"exploration": 0.4} if name == "AdaBandit" else {}))
    result = play(model, stream.X, stream.y)
    total = model.summary().total
    assert total.greedy.low < result.greedy_accuracy < total.greedy.high
    assert total.shown.share == result.accuracy
    assert total.explored == pytest.approx(result.explored.mean())
    assert total.cost == pytest.approx(result.greedy_accuracy - result.accuracy, abs=0.03)


def test_labels_that_join_are_counted(tmp_path: Path) -> None:
    model = make_booster("AdaBandit", 2, 3)
    model.learn(model.decide({"x": 1.0}), True)
    model.add_label("new")
    for _ in range(3):
        model.learn(model.decide({"x": 1.0}, allowed=["new"]), True)
    assert reloaded(model, tmp_path / "a").summary().total.by_label["new"].verdicts == 3


def test_a_verdict_at_which_a_weak_learner_failed_is_not_counted(tmp_path: Path) -> None:
    class Moody:
        def predict(self, x: np.ndarray) -> int:
            return int(x[0] > 1)

        def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002
            if x[0] == 2.0:
                raise RuntimeError("not today")

        def to_dict(self) -> dict[str, Any]:
            return {}

        @classmethod
        def from_dict(cls, data: dict[str, Any]) -> Moody:  # noqa: ARG003
            return cls()

    model = banditboost.AdaBandit(["a", "b"], n_learners=2, weak_learner=Moody, seed=1)
    for x in (1.0, 2.0, 3.0):
        decision = model.decide({"x": x})
        if x == 2.0:
            with pytest.raises(RuntimeError, match="not today"):
                model.learn(decision, True)
        else:
            model.learn(decision, True)
    copy = reloaded(model, tmp_path / "a", weak_learner=Moody)
    for one in (model.summary(), copy.summary()):
        assert (one.verdicts, one.open_decisions, one.recent.shown.share) == (2, 1, 1.0)


def test_ten_thousand_labels_take_little_room() -> None:
    model = banditboost.AdaBandit(range(10_000), n_learners=2, seed=1)
    assert model._tally.nbytes < 450_000
    for t in range(30):
        model.learn(model.decide({"x": float(t)}, allowed=[t, t + 1]), t % 2 == 0)
    summary = model.summary()
    assert sum(found.verdicts for found in summary.total.by_label.values()) == 30
    assert len(str(summary).splitlines()) < 30


def test_memory_usage_counts_the_tally() -> None:
    few, many = (banditboost.baselines.Random(range(k), seed=1) for k in (10, 1010))
    assert many.memory_usage - few.memory_usage == 40 * 1000


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = make("AdaBandit")
    by_hand(model)
    path = tmp_path_factory.mktemp("models") / "a"
    model.save(path)
    return path


def _set(name: str, place: Any, value: float) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    def change(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[name][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("by_label", (0, 0), -1.0),
        _set("by_label", (0, 0), 1e6),
        _set("by_label", (0, 0), math.nan),
        _set("by_label", (0, 1), 0.5),
        _set("by_label", (0, 1), 1e6),
        _set("recent", (0, 0), 12.0),
        _set("recent", (0, 0), -1.0),
        _set("recent", (0, 0), math.inf),
        _set("recent", (0, 1), 0.0),
        _set("recent", (0, 1), math.nan),
        _set("recent", (0, 1), 1.5),
        _set("tally", 0, 1e6),
        _set("tally", 0, 1.0),
        _set("tally", 1, 1e6),
        _set("tally", 1, 0.5),
        _set("tally", 2, math.nan),
        _set("tally", 3, 1e6),
        _set("tally", 4, -1.0),
        lambda _, arrays: arrays.pop("recent"),
        lambda _, arrays: arrays.update(recent=arrays["recent"][1:]),
        lambda _, arrays: arrays.update(by_label=arrays["by_label"][1:]),
    ],
)
def test_impossible_tallies_are_refused(change: Any, model_file: Path) -> None:
    with pytest.raises(ModelFileError, match="load an intact copy"):
        banditboost.load(forge(model_file, change))
