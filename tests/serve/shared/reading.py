"""One learner that reads a log: it loads the first file of the model, and learns what the log says was
learned, decision by decision. It knows nothing of leases, snapshots, branches in memory or other processes.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import psycopg

import banditboost
from banditboost import Decision
from banditboost.errors import DecisionError
from banditboost.serve import events
from banditboost.serve.events import Activated, AnyEvent, Closed, Decided, Judged, Replaced, Settled
from tests.boosting.states import difference


def log_of(url: str, name: str) -> list[AnyEvent]:
    """The events of a model, after a look at their numbers and their chain."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT n, at, chain, body FROM banditboost.events JOIN banditboost.models USING (model) "
            "WHERE name = %s ORDER BY n",
            [name],
        ).fetchall()
    chain, last = 0, 0.0
    for i, (n, at, told, body) in enumerate(rows, 1):
        chain = events.chained(chain, n, at, body)
        assert (n, told) == (i, chain)
        assert at >= last, "time never goes back"
        last = at
    return [events.decode(body) for _, _, _, body in rows]


def first_file(url: str, name: str, n: int, folder: Path) -> Any:
    """The model of a snapshot that is kept for ever."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT file FROM banditboost.snapshots JOIN banditboost.models USING (model) "
            "WHERE name = %s AND n = %s AND kept",
            [name, n],
        ).fetchone()
    assert row is not None
    path = folder / "first.bb"
    path.write_bytes(row[0])
    return banditboost.load(path)


def one_learner(url: str, name: str, folder: Path) -> Any:
    """The model after its whole log."""
    model = first_file(url, name, 0, folder)
    decided: dict[str, Decided] = {}
    sums: dict[str, float] = {}
    for n, event in enumerate(log_of(url, name), 1):
        if isinstance(event, Decided):
            assert event.id not in decided, "one decision for each id"
            decided[event.id] = event
        elif isinstance(event, Settled):
            follow_labels(model, event.settings["labels"])
        elif isinstance(event, Replaced):
            model, decided = first_file(url, name, n, folder), {}
        else:
            if isinstance(event, Judged) and event.outcome in ("held", "added"):
                sums[event.id] = sums.get(event.id, 0.0) + event.reward
            reward = learned_with(event, sums)
            if reward is not None:
                learn(model, decided[event.id], reward)
    return model


def learned_with(event: Judged | Activated | Closed, sums: dict[str, float]) -> float | None:
    """The reward that is learned with an event."""
    if isinstance(event, Closed):
        return event.reward
    if event.outcome != "learned":
        return None
    return event.reward if isinstance(event, Judged) else sums[event.id]


def learn(model: Any, event: Decided, reward: float) -> None:
    """A lesson about a branch's decision, or about what a baseline has shown."""
    if event.made:
        with contextlib.suppress(OtherKindError):
            learn_made(model, Decision.from_dict(json.loads(event.made)), reward)
    else:
        x = json.loads(event.features)
        model.learn_logged(x, event.label, reward, event.probability, allowed=event.allowed)


class OtherKindError(Exception):
    """Two branches met one feature as two kinds."""


def learn_made(model: Any, decision: Decision, reward: float) -> None:
    try:
        model.learn(decision, reward=reward)
    except DecisionError as error:
        if "features do not fit" not in str(error):
            raise
        raise OtherKindError from error


def follow_labels(model: Any, labels: list[Any]) -> None:
    if model.labels_are_fixed:
        return
    shown = [label for label in model.labels if label not in model.removed_labels]
    for label in labels:
        if label not in shown:
            model.add_label(label)
    for label in shown:
        if label not in labels:
            model.remove_label(label)


def assert_same(model: Any, file: bytes, folder: Path) -> None:
    """A model and one from a file are the same, to the last bit."""
    path = folder / "published.bb"
    path.write_bytes(file)
    other = banditboost.load(path)
    assert difference(model, other) == []
    assert model.verdicts == other.verdicts
