"""`audit` makes every decision again, and finds what was changed behind the service's back."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from banditboost.cli.app import app
from banditboost.serve.events import AnyEvent, Decided, chained, decode, encode
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from tests.serve.core.running import LABELS, decided, judged, serve

SHOP = json.dumps({"tea": {"price": 4.0}, "milk": {"price": 1.0}}).encode()


async def fill(service: SoloService) -> None:
    """All that a log can hold."""
    await service.create("shop", ModelSettings(labels=LABELS, seed=1, control=0.3))
    await service.create("wide", ModelSettings(learner="OptionBoost", seed=2, counting="sum", control=0.3))
    for hour in range(12):
        answer = await decided(service, "shop", {"hour": hour}, id=f"shop {hour}", deferred=hour % 4 == 0)
        await judged(service, "shop", answer.id, correct=answer.label == "red")
        await service.activate("shop", [answer.id])
        wide = await decided(service, "wide", {"hour": hour}, id=f"wide {hour}", options=SHOP, ranking=-1)
        await judged(service, "wide", wide.id, reward=0.5)
    await service.change("shop", {"labels": [*LABELS, "black"], "control": 0.0})
    await service.reset("wide")
    for hour in range(9):
        answer = await decided(
            service, "shop", {"hour": hour, "new": "yes"}, id=f"late {hour}", allowed=["red", "black"]
        )
        await judged(service, "shop", answer.id, correct=True)
        await decided(service, "wide", {"hour": hour}, id=f"later {hour}", options=SHOP)
    await service.upload("shop", await service.download("shop"))
    await decided(service, "shop", {"hour": 1}, id="last")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("audited")
    serve(made, fill, ServiceSettings(snapshot_every=10))
    return made


def typed(*words: object) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["audit", *map(str, words), "--json"])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


def rewritten(folder: Path, copy: Path, change: Any) -> Path:
    """A copy whose log tells something else of "shop 5", with a chain that fits."""
    with (
        sqlite3.connect(folder / "banditboost.sqlite") as source,
        sqlite3.connect(copy / "banditboost.sqlite") as made,
    ):
        source.backup(made)
        chain = 0
        for place, at, body in made.execute(
            "SELECT place, at, body FROM events WHERE place >> 40 = 1"
        ).fetchall():
            event: AnyEvent = decode(body)
            if isinstance(event, Decided) and event.id == "shop 5":
                body = encode(change(event))
            chain = chained(chain, place & ((1 << 40) - 1), at, body)
            made.execute("UPDATE events SET body = ?, chain = ? WHERE place = ?", (body, chain, place))
    source.close()
    made.close()
    return copy


def test_a_log_that_nobody_has_changed_is_made_again_exactly(folder: Path) -> None:
    code, found = typed(folder)
    assert (code, found["file"]) == (0, [])
    shop, wide = found["models"]
    assert (shop["model"], shop["found"], shop["findings"], shop["decisions"]) == ("shop", 0, [], 22)
    assert (wide["model"], wide["found"], wide["findings"], wide["decisions"]) == ("wide", 0, [], 21)
    assert shop["snapshots"] >= 2
    assert shop["learned"] == 21


def test_a_decision_is_told_with_all_its_probabilities(folder: Path) -> None:
    code, found = typed(folder, "--model", "shop", "--decision", "late 3")
    told = found["decision"]
    assert (code, told["same"], told["told"]["features"]) == (0, True, {"hour": 3, "new": "yes"})
    assert [label for label, _ in told["ranking"]] in (["red", "black"], ["black", "red"])
    assert sum(share for _, share in told["ranking"]) == pytest.approx(1.0)
    assert dict(map(tuple, told["ranking"]))[told["told"]["label"]] == told["told"]["probability"]
    assert [event["event"] for event in told["history"]] == ["judged"]
    assert "the same" in CliRunner().invoke(app, ["audit", str(folder), "--decision", "late 3"]).stdout


@pytest.mark.parametrize(
    "change",
    [
        lambda event: msgspec.structs.replace(event, probability=event.probability * 0.999),
        lambda event: msgspec.structs.replace(event, label="blue" if event.label != "blue" else "red"),
        lambda event: msgspec.structs.replace(event, explored=not event.explored),
        lambda event: msgspec.structs.replace(event, features=b'{"hour": 6}'),
        lambda event: msgspec.structs.replace(event, arm="control" if event.arm == "model" else "model"),
    ],
)
def test_what_was_changed_is_found_though_the_chain_fits(folder: Path, tmp_path: Path, change: Any) -> None:
    code, found = typed(rewritten(folder, tmp_path, change), "--model", "shop")
    assert code == 1
    assert found["models"][0]["found"] > 0


def test_what_does_not_fit_the_chain_is_found(folder: Path, tmp_path: Path) -> None:
    copy = rewritten(folder, tmp_path, lambda event: event)
    assert typed(copy)[0] == 0
    with sqlite3.connect(copy / "banditboost.sqlite") as database:
        database.execute("UPDATE events SET at = at + 1 WHERE place & 0xffff = 7")
    database.close()
    code, found = typed(copy)
    assert code == 1
    assert [model["findings"][0]["n"] for model in found["models"]] == [7, 7]


def test_models_that_are_replaced_at_once_are_all_read_again(tmp_path: Path) -> None:
    """Several files in one commit: the log is made again from each of them."""

    async def use(service: SoloService) -> None:
        await service.create("shop", ModelSettings(labels=LABELS, seed=1))
        await decided(service, "shop", {"hour": 1}, id="before")
        file = await service.download("shop")
        await asyncio.gather(
            *(service.reset("shop") for _ in range(4)), *(service.upload("shop", file) for _ in range(4))
        )
        await decided(service, "shop", {"hour": 1}, id="after")
        assert service.health().numbers.commits < 11

    serve(tmp_path, use)
    code, found = typed(tmp_path)
    [shop] = found["models"]
    assert (code, shop["findings"], shop["decisions"]) == (0, [], 2)


def test_what_a_baseline_has_shown_and_nobody_has_judged_is_no_finding(tmp_path: Path) -> None:
    """Without ids, with a ranking and a baseline: a snapshot keeps what is to be learned, and no more."""

    async def use(service: SoloService) -> None:
        await service.create("shop", ModelSettings(labels=LABELS, seed=1, mode="apprentice"))
        for hour in range(5):
            await decided(service, "shop", {"hour": hour}, ranking=2, baseline="red", deferred=hour == 3)

    serve(tmp_path, use)
    code, found = typed(tmp_path)
    assert (code, found["models"][0]["findings"]) == (0, [])
    assert found["models"][0]["snapshots"] == 1


def test_a_file_that_took_the_model_s_place_is_kept_though_it_is_written_again(tmp_path: Path) -> None:
    async def begin(service: SoloService) -> None:
        await service.create("shop", ModelSettings(labels=LABELS, seed=1))
        await decided(service, "shop", {"hour": 1})
        await service.reset("shop")

    async def look(service: SoloService) -> None:
        await service.show("shop")  # and when it stops, it writes a snapshot of what it has

    async def go_on(service: SoloService) -> None:
        await decided(service, "shop", {"hour": 2})

    for use in (begin, look, go_on, go_on, go_on, go_on):
        serve(tmp_path, use)
    code, found = typed(tmp_path)
    assert (code, found["models"][0]["findings"], found["models"][0]["decisions"]) == (0, [], 5)


def test_what_was_taken_is_read_again_whatever_the_limits_are_now(tmp_path: Path) -> None:
    wide = {f"feature {i}": {"a": {"b": {"c": i}}} for i in range(30)}
    offered = json.dumps({"tea" * 200: wide, "milk": {}}).encode()

    async def begin(service: SoloService) -> None:
        await service.create("shop", ModelSettings(labels=LABELS, seed=1, control=0.5))
        await service.create("offers", ModelSettings(learner="OptionBoost", seed=1, control=0.5))
        for n in range(8):
            await decided(service, "shop", wide, id=f"v{n}")
            await decided(service, "offers", wide, id=f"v{n}", options=offered)
            await judged(service, "offers", f"v{n}", correct=True)
        service._snapshotting.update([1, 2])  # as if it were killed: it writes none at its end

    async def go_on(service: SoloService) -> None:
        for n in range(8):
            assert await judged(service, "shop", f"v{n}", correct=True) == "learned"
            assert await judged(service, "offers", f"v{n}", correct=True) == "duplicate"
        with pytest.raises(ServiceError, match="give 10 at most"):
            await decided(service, "shop", {str(i): i for i in range(11)})

    serve(tmp_path, begin, ServiceSettings(limits=Limits(depth=20, id=1000)))
    serve(tmp_path, go_on, ServiceSettings(limits=Limits(features=10, depth=1, id=10)))
    code, found = typed(tmp_path)
    assert (code, [model["findings"] for model in found["models"]]) == (0, [[], []])


def test_a_running_service_is_audited_and_names_are_refused(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await fill(service)
        assert typed(tmp_path)[0] == 0

    serve(tmp_path, use)
    for words in ([tmp_path / "nowhere"], [tmp_path, "--model", "nobody"], [tmp_path, "--decision", "none"]):
        result = CliRunner().invoke(app, ["audit", *map(str, words)])
        assert result.exit_code == 1
        assert ";" in result.stderr
