"""The benchmark of options with features: what streams, players and the page are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from banditboost.experiments.results import Results
from benchmarks import records
from benchmarks.options import given, logs, page, shops, streams, wabbit
from benchmarks.options.plan import PAGE, Runner
from benchmarks.options.players import GUESSING, OURS, PEER, Player, dense, linucb, players
from benchmarks.options.stream import REPORTING, Numbers, Stream, Task
from benchmarks.options.wabbit import Settings


def shop(seed: int, items: int = 6, rounds: int = 240) -> Stream:
    return shops.open_shop(shops.Shop(1, items, rounds, widths=(3, 2), base=-1.0), seed)


def always(stream: Stream, settings: Settings, seed: int) -> Numbers:  # noqa: ARG001
    return np.full(len(stream.contexts), settings["place"])


ALWAYS = Player(PEER, always, [{"place": i, "explorer": "--always"} for i in range(3)])


@pytest.mark.parametrize("truth", [shops.bilinear, shops.thresholds, shops.triples, shops.nearness])
def test_shops_replace_half_of_their_items_and_clicks_have_their_rates(truth: shops.Truth) -> None:
    stream = shops.open_shop(shops.Shop(1, 10, 8_000, truth, (5, 5)), 1)
    assert set(stream.offered[0]) == set(range(10))
    assert set(stream.offered[-1]) == {5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
    assert stream.rewards.mean(axis=0) == pytest.approx(stream.means.mean(axis=0), abs=0.02)
    assert set(np.unique(stream.rewards)) == {0.0, 1.0}


def test_a_shop_is_the_same_with_every_seed_and_its_visitors_are_not() -> None:
    one, two = shop(1), shop(2)
    assert one.items == two.items
    assert one.contexts != two.contexts


def test_prices_are_earned_up_to_what_the_customer_would_pay() -> None:
    stream = shops.prices(1, 50)
    price = np.array([item["price"] for item in stream.items], np.float32)
    earned = stream.rewards > 0
    assert np.all(earned[:, :-1] >= earned[:, 1:])
    assert np.all(stream.rewards[earned] == np.tile(price, (50, 1))[earned])


def test_labels_given_as_options() -> None:
    named, told = given.by_name("balance", 3), given.described("balance", 3)
    assert [sorted(item) for item in named.items] == [["label"]] * 3
    assert named.rewards.sum(axis=1) == pytest.approx(1.0)
    assert [sorted(item) for item in told.items] == [[f"m{i}" for i in range(4)]] * 3
    assert np.array_equal(named.rewards, told.rewards)


def test_all_streams_have_names_of_their_own_and_settings_from_one_that_is_there() -> None:
    names = [task.name for task in streams.tasks()]
    assert len(set(names)) == len(names)
    assert {task.tuned_as for task in streams.tasks()} - {""} <= set(names)


def test_the_best_setting_is_chosen_and_nothing_is_played_twice(tmp_path: Path) -> None:
    told: list[Any] = []
    task = Task("shop", REPORTING, shop)
    for _ in range(2):
        runner = Runner(Results(tmp_path / "r.jsonl"), {"machine": {}}, told.append, math.inf)
        runner.play(task, ALWAYS, seeds=(4, 5, 6))
    shown = [record for record in told if record["purpose"] == PAGE]
    best = int(shop(99).means.mean(axis=0)[:3].argmax())
    assert [record["settings"]["place"] for record in shown] == [best] * 3
    runner.play(task, Player(OURS, lambda s, _, seed: always(s, {"place": best}, seed)), seeds=(4, 5, 6))
    assert "level on 1" in page.page(Results(tmp_path / "r.jsonl").records())


def test_settings_of_another_stream(tmp_path: Path) -> None:
    runner = Runner(Results(tmp_path / "r.jsonl"), {}, lambda _: None, math.inf)
    tasks = [Task("small", REPORTING, shop), Task("large", REPORTING, lambda seed: shop(seed, 12), "small")]
    runner.play(tasks[1], ALWAYS, tasks, seeds=(4,))
    found = [(record["stream"], record["seed"]) for record in Results(tmp_path / "r.jsonl").records()]
    assert found == [("small", 99)] * 3 + [("large", 4)]


def test_time_that_is_over(tmp_path: Path) -> None:
    runner = Runner(Results(tmp_path / "r.jsonl"), {}, print, 0.0)
    with pytest.raises(TimeoutError):
        runner.play(Task("shop", REPORTING, shop), ALWAYS)


def test_texts_and_commands() -> None:
    assert wabbit.texts([{"a": 1.0, "b": "x y|z:"}, {"a": 3.0}], "u") == ["|u c0:-1 c1=x_y_z_", "|u c0:1"]
    first = wabbit.first()[0]
    assert "--squarecb" in wabbit.command(first)
    assert "--cb_min_cost -1 --cb_max_cost 0" in wabbit.command(first)
    assert "--cb_min_cost" not in wabbit.command({**first, "explorer": "--epsilon 0.05"})


def test_linucb_is_least_squares_on_joint_features() -> None:
    stream = shop(3, rounds=60)
    shown = linucb(stream, {"width": 0.3}, 1)
    u, v = dense(stream.contexts), dense(stream.items)
    rows: list[Any] = []
    heard: list[float] = []
    for t, place in enumerate(shown):
        joint = np.einsum("i,kj->kij", u[t], v[stream.offered[t]]).reshape(len(stream.offered[t]), -1)
        inverse = np.linalg.inv(np.eye(joint.shape[1]) + sum((np.outer(r, r) for r in rows), np.zeros(1)))
        weights = inverse @ sum((y * r for y, r in zip(heard, rows, strict=True)), np.zeros(joint.shape[1]))
        widths = np.sqrt(np.einsum("ki,ij,kj->k", joint, inverse, joint))
        assert place == np.argmax(joint @ weights + 0.3 * widths)
        rows.append(joint[place])
        heard.append(float(stream.rewards[t, place]))


def test_every_player_shows_what_is_offered() -> None:
    pytest.importorskip("vowpalwabbit")
    stream = shop(5, rounds=30)
    for player in players():
        assert set(player.play(stream, player.first[0], 1)) <= set(range(6))
    assert [player.name for player in players()][:2] == [OURS, GUESSING]


def test_the_page_is_that_of_the_record() -> None:
    assert (records.FOLDER / page.PAGE_NAME).read_text() == page.page(records.read(page.RECORDS))


def test_logs_are_weighed_by_their_chances() -> None:
    where = logs.folder()
    if where is None:
        pytest.skip("BANDITBOOST_DATA has no Open Bandit logs")
    found = logs.read(where, "men")
    assert len(found.items) == 34
    record = logs._measured("men", GUESSING, found, {})
    assert record["mean"] == pytest.approx(sum(found.clicks) / len(found.clicks), abs=1e-6)
