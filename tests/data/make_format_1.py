"""Makes the files of format 1 that the tests keep for ever: `PYTHONPATH=src:. python -m
tests.data.make_format_1`.

Run it only while format 1 has not been released. Afterwards these files are what people have on their disks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import banditboost
from banditboost import HoeffdingTree, PendingDecisions

FOLDER = Path(__file__).parent
BOOSTERS = ("AdaBandit", "OptBandit", "BinBandit", "GapBoost", "AdaFull", "OptFull")
LABELS = ["sports", 2, ("a", None)]


def row(t: int) -> dict[str, Any]:
    """Numbers, strings, bools and gaps; one feature joins later."""
    x: dict[str, Any] = {
        "hour": t * 7 % 24,
        "device": ("phone", "desktop", "tablet")[t % 3],
        "member": t % 5 == 0,
    }
    if t % 11 == 0:
        x["hour"] = None
    if t > 60:
        x["age"] = 20.5 + t % 40
    return x


def right(t: int) -> int:
    return (t % 3 + (t * 7 % 24 > 12)) % 3


def make(name: str) -> tuple[Any, dict[str, Any]]:
    """A model after 120 rounds, and its open decisions."""
    model = getattr(banditboost, name)(
        LABELS, n_learners=3, weak_learner=HoeffdingTree(leaf_prediction="adaptive"), seed=7
    )
    if not hasattr(model, "decide"):
        for t in range(120):
            model.learn_one(row(t), LABELS[right(t)])
        return model, {}
    pending = PendingDecisions(model, capacity=5, expired="drop", clock=lambda: 1.0e9)
    for t in range(120):
        decision = pending.decide(t, row(t))
        if t % 10 or t < 80:
            pending.learn(t, decision.label == LABELS[right(t)])
    return model, pending.to_dict()


def answers(model: Any) -> list[Any]:
    """What a model says to forty rows without learning anything from them."""
    if hasattr(model, "decide"):
        decisions = [model.decide(row(t)).to_dict() for t in range(200, 240)]
        return [[decision["label"], decision["greedy"], decision["memo"]] for decision in decisions]
    index = {label: i for i, label in enumerate(LABELS)}
    return [
        [index[model.predict_one(row(t))], list(model.predict_proba_one(row(t)).values())]
        for t in range(200, 240)
    ]


def main() -> None:
    expected = {}
    for name in BOOSTERS:
        model, pending = make(name)
        model.save(FOLDER / f"format_1_{name}.bb")
        expected[name] = {"model_id": model.model_id, "pending": pending, "answers": answers(model)}
    (FOLDER / "format_1.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
