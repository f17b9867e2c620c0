"""The log as a stream: what `banditboost.logs` reads back is what was asked, shown and earned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from banditboost import logs
from banditboost.serve.clock import Clock
from banditboost.serve.http.app import create_app
from banditboost.serve.http.log_stream import COLUMNS
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.calling import Caller, calling

NEWS, SHOP = "/v1/models/news", "/v1/models/shop"
ROWS: list[Any] = [
    {"hour": 9, "device": "phone", "id": "a feature", "action": "another"},
    {"hour": 21.5, "device": "tablet", "new": True},
    {"hour": 3, "device": None, "@action": "odd"},
    {"hour": 4, "device": "phone"},
]


@pytest.fixture
def caller(tmp_path: Path) -> Iterator[Caller]:
    models = {
        "news": ModelSettings(labels=["a", "b", 3], rewards=(-1.0, 2.0), seed=5),
        "shop": ModelSettings(learner="OptionBoost", seed=5),
        "lists": ModelSettings(labels=["a", "b"]),
    }
    service = SoloService(
        ServiceSettings(models=models, sync="normal"), SQLiteStore(tmp_path / "s", "normal"), Clock()
    )
    with calling(create_app(service)) as caller:
        yield caller


def _play(caller: Caller, at: str, bodies: list[Any]) -> list[Any]:
    """Decisions, of which all but the last one earn 0.25, 0.5, ..."""
    decided = [caller.post(f"{at}/decisions", json=body).json() for body in bodies]
    for i, one in enumerate(decided[:-1]):
        told = caller.post(f"{at}/decisions/{one['id']}/verdict", json={"reward": (i + 1) / 4})
        assert told.json()["outcome"] == "learned"
    return decided


def _blocks(log: logs.Log) -> tuple[list[Any], ...]:
    blocks = list(log)
    return tuple(
        [value for block in blocks for value in getattr(block, name)]
        for name in ("rows", "actions", "rewards", "probabilities", "ids")
    )


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_rows_are_read_back_without_loss(caller: Caller, tmp_path: Path, form: str) -> None:
    decided = _play(caller, NEWS, [{"features": row} for row in ROWS])
    path = tmp_path / f"log.{form}"
    path.write_bytes(caller.get(f"{NEWS}/log", params={"form": form}).content)
    rows, actions, rewards, probabilities, ids = _blocks(logs.read(path, **COLUMNS))
    told = [
        {("@" if name[0] == "@" else "") + name: value for name, value in row.items() if value is not None}
        for row in ROWS
    ]
    assert [json.dumps(row, sort_keys=True).lower().replace('"true"', "true") for row in rows] == [
        json.dumps({name: float(v) if name == "hour" else v for name, v in row.items()}, sort_keys=True)
        for row in told
    ]
    assert actions == [str(one["label"]) for one in decided]
    assert probabilities == [one["probability"] for one in decided]
    assert ids == [one["id"] for one in decided]
    assert rewards[:3] == [0.25, 0.5, 0.75]
    assert rewards[3] != rewards[3]  # nobody knows yet


def test_rows_of_arrays_are_named_by_their_places(caller: Caller, tmp_path: Path) -> None:
    _play(caller, "/v1/models/lists", [{"features": [1, 2.5]}, {"features": [3, 4]}])
    path = tmp_path / "log.jsonl"
    path.write_bytes(caller.get("/v1/models/lists/log").content)
    assert _blocks(logs.read(path, **COLUMNS))[0] == [{"0": 1.0, "1": 2.5}, {"0": 3.0, "1": 4.0}]


def test_options_are_in_dsjson(caller: Caller, tmp_path: Path) -> None:
    options = {"x": {"price": 3.0, "kind": "tea"}, "y": {"price": 4.0}, "7": {}}
    bodies = [
        {"features": {"hour": 9}, "options": options},
        {"features": {"hour": 10}, "options": options, "allowed": ["y", "x"]},
        {"features": {}, "options": options},
    ]
    decided = _play(caller, SHOP, bodies)
    path = tmp_path / "log.dsjson"
    path.write_bytes(caller.get(f"{SHOP}/log", params={"form": "dsjson"}).content)
    log = logs.read_dsjson(path)
    rows, actions, rewards, probabilities, ids = _blocks(log)
    assert rows == [{"hour": 9}, {"hour": 10}]
    assert (actions, rewards) == ([one["label"] for one in decided[:2]], [0.25, 0.5])
    assert (probabilities, ids) == (
        [one["probability"] for one in decided[:2]],
        [one["id"] for one in decided[:2]],
    )
    (block,) = log
    assert block.options == [options, {"y": options["y"], "x": options["x"]}]


def test_every_event(caller: Caller) -> None:
    _play(caller, NEWS, [{"features": ROWS[0]}, {"features": {}}])
    events = [json.loads(line) for line in caller.get(f"{NEWS}/log?form=events").text.splitlines()]
    assert [event["n"] for event in events] == [1, 2, 3, 4]
    assert [event["event"] for event in events] == ["settled", "decided", "decided", "judged"]
    assert events[1]["features"] == ROWS[0]
    later = caller.get(f"{NEWS}/log?form=events&after=3").text.splitlines()
    assert [json.loads(line) for line in later] == events[3:]


def test_held_and_added_verdicts_count_when_they_do(caller: Caller) -> None:
    for one in ("shown", "not shown"):
        caller.post(f"{NEWS}/decisions", json={"features": {}, "id": one, "deferred": True})
        told = caller.post(f"{NEWS}/decisions/{one}/verdict", json={"reward": 0.5}).json()
        assert told["outcome"] == "held"
    caller.post(f"{NEWS}/decisions/shown/activate")
    rows = [json.loads(line) for line in caller.get(f"{NEWS}/log").text.splitlines()]
    assert [(row["@id"], row.get("@reward")) for row in rows] == [("shown", 0.5), ("not shown", None)]
    caller.post(f"{NEWS}/reset")
    assert len(caller.get(f"{NEWS}/log").text.splitlines()) == 2


@pytest.mark.parametrize(
    ("query", "status"),
    [("form=csv", 400), ("after=3", 400), ("form=events&after=-1", 400), ("form=events&after=x", 400)],
)
def test_refusals(caller: Caller, query: str, status: int) -> None:
    assert caller.get(f"{NEWS}/log?{query}").status_code == status
    assert caller.get(f"/v1/models/nobody/log?{query}").status_code == status
    assert caller.get("/v1/models/nobody/log").status_code == 404


def test_an_empty_log_is_no_parquet(caller: Caller) -> None:
    assert caller.get(f"{NEWS}/log").content == b""
    told = caller.get(f"{NEWS}/log?form=parquet")
    assert (told.status_code, told.json()["field"]) == (422, "form")
