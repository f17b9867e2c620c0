"""Weak learners written in Python: saved by what they tell of themselves, loaded only with their class at
hand.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost.errors import ModelFileError
from tests.boosting.twins import BOOSTERS, make_booster
from tests.io.models import HALF, STREAM, K, forge, go_on, reloaded, same


class Counts:
    """How often each label was heard, by the sign of the first number."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.seen: dict[tuple[bool, int], float] = {}
        self.total = np.zeros(8)

    def predict(self, x: np.ndarray) -> int:
        sign = bool(np.nan_to_num(x)[:1].sum() > 0)
        return max(
            (label for s, label in self.seen if s == sign),
            key=lambda label: self.seen[sign, label],
            default=0,
        )

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        key = bool(np.nan_to_num(x)[:1].sum() > 0), label
        self.seen[key] = self.seen.get(key, 0.0) + self.scale * weight
        self.total[label] += weight

    def to_dict(self) -> dict[str, Any]:
        return {"scale": self.scale, "seen": self.seen, "total": self.total}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Counts:
        learner = cls(data["scale"])
        learner.seen, learner.total = data["seen"], data["total"]
        return learner


class Mute:
    """Cannot tell what it has learned."""

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        """Learns nothing."""


class Other(Counts):
    """Another class."""


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize(
    "learner", [Counts, Counts(0.5), lambda: Counts(2.0)], ids=["class", "object", "function"]
)
def test_resume_equals_going_on(name: str, learner: Any, tmp_path: Path) -> None:
    """Also for BinBandit, which makes new learners after it was loaded."""
    model = make_booster(name, K, 3, weak_learner=learner)
    go_on(model, STREAM.dicts()[:5], STREAM.y)
    copy = reloaded(model, tmp_path / "a", weak_learner=learner)
    assert same(model, copy)
    assert [one.scale for one in copy._committee.learners] == [one.scale for one in model._committee.learners]
    assert go_on(model, STREAM.dicts()[5:HALF], STREAM.y[5:]) == go_on(
        copy, STREAM.dicts()[5:HALF], STREAM.y[5:]
    )
    assert same(model, copy)
    assert copy._committee.learners[0].total is not model._committee.learners[0].total


def test_a_learner_that_cannot_tell_what_it_learned_is_refused(tmp_path: Path) -> None:
    model = make_booster("AdaBandit", K, 2, weak_learner=Mute)
    with pytest.raises(ModelFileError, match=r"class Mute.*`to_dict\(self\)`.*`from_dict\(cls, data\)`"):
        model.save(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_learner_that_tells_what_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    model = make_booster("AdaBandit", K, 2, weak_learner=Counts)
    model._committee.learners[0].seen = object()
    with pytest.raises(ModelFileError, match="cannot be saved with <object"):
        model.save(tmp_path / "a")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = make_booster("AdaBandit", K, 2, weak_learner=Counts)
    go_on(model, STREAM.dicts()[:20], STREAM.y)
    model.save(tmp_path / "a")
    return tmp_path / "a"


def test_without_the_class_the_error_names_it(saved: Path) -> None:
    with pytest.raises(
        ModelFileError, match=r"holds no code; give load\(path, weak_learner=.*test_custom_learners\.Counts\)"
    ):
        banditboost.load(saved)
    assert banditboost.io.describe(saved)["parameters"]["weak_learner"]["class"] == "Counts"


@pytest.mark.parametrize(
    ("learner", "message"),
    [(Other, "was a Counts.*makes a Other"), (Mute, "makes a Mute"), (5, "lacks predict")],
)
def test_another_class_is_refused(saved: Path, learner: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        banditboost.load(saved, weak_learner=learner)


def test_a_class_that_has_lost_its_reader_is_refused(saved: Path) -> None:
    renamed = forge(
        saved, lambda header, _: [learner.update({"class": "Mute"}) for learner in header["learners"]]
    )
    with pytest.raises(ModelFileError, match="class Mute has no classmethod"):
        banditboost.load(renamed, weak_learner=Mute)


def test_trees_need_no_class(tmp_path: Path) -> None:
    model = make_booster("AdaBandit", K, 2)
    with pytest.raises(ModelFileError, match=r"trees.*leave weak_learner out"):
        reloaded(model, tmp_path / "a", weak_learner=Counts)


@pytest.mark.parametrize(
    "learners", [[], [1, 2], [{"class": "Counts", "state": {}}], [{"class": "Counts"}] * 2]
)
def test_wrong_states_are_refused(saved: Path, learners: Any) -> None:
    with pytest.raises(ModelFileError):
        banditboost.load(
            forge(saved, lambda header, _: header.update(learners=learners)), weak_learner=Counts
        )


def test_a_factory_that_mixes_kinds(tmp_path: Path) -> None:
    kinds = itertools.cycle([Counts, Other])
    model = make_booster("AdaBandit", K, 4, weak_learner=lambda: next(kinds)())
    copy = reloaded(model, tmp_path / "a", weak_learner=model.weak_learner)
    assert list(map(type, copy._committee.learners)) == [Counts, Other] * 2
