"""`banditboost run` on a file with a row for each option that was offered."""

from __future__ import annotations

import json
import random

import pytest

import banditboost
from banditboost import logs

COLUMNS = ("--decision", "visit", "--option", "article", "--rewards", "bought")


def table(n_visits=240):
    """Rows of visits; three of eight articles each time, wanted by hour."""
    luck = random.Random(5)
    kinds = {f"a{i}": ("tea", "coffee", "cake")[i % 3] for i in range(8)}
    rows = []
    for visit in range(n_visits):
        hour = luck.choice((8, 15, 21))
        wanted = {8: "coffee", 15: "cake", 21: "tea"}[hour]
        rows += [
            (
                f"v{visit}",
                hour,
                article,
                luck.choice((2.5, 5.0)),
                kinds[article],
                int(kinds[article] == wanted),
            )
            for article in luck.sample(sorted(kinds), 3)
        ]
    return [("visit", "hour", "article", "price", "kind", "bought"), *rows]


def write(path, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")


@pytest.fixture
def shop(home):
    path = home / "shop.csv"
    write(path, table())
    return path


def test_what_is_told(answer, shop):
    told = answer("run", shop, *COLUMNS)
    read = logs.read_options(shop, decision="visit", option="article", reward="bought")
    played = read.to_play()
    result = banditboost.play(banditboost.OptionBoost(seed=4), **played)
    assert told["mean_reward"] == pytest.approx(result.mean_reward, abs=1e-12)
    assert told["last_mean_reward"] == pytest.approx(result.last_mean_reward, abs=1e-12)
    assert told["greedy_mean_reward"] == pytest.approx(result.greedy_mean_reward, abs=1e-12)
    each = [list(rewards.values()) for rewards in played["rewards"]]
    assert told["random_mean_reward"] == pytest.approx(sum(sum(r) / len(r) for r in each) / 240)
    assert told["best_mean_reward"] == pytest.approx(sum(max(r) for r in each) / 240)
    assert (told["rounds"], told["n_options"], told["learner"]) == (240, 8, "OptionBoost")
    assert "n_labels" not in told


def test_for_people(bb, shop):
    shown = bb("run", shop, *COLUMNS, "--rounds", "50")
    assert "OptionBoost on shop: 50 rounds, 8 options, 10 trees\n" in shown.stdout
    for fact in ("options at random", "best options", "mean reward of greedy option"):
        assert fact in shown.stdout
    assert "label" not in shown.stdout


def test_columns_can_be_told(answer, shop):
    for more in ((), ("--option-columns", "price,kind")):
        told = answer("run", shop, *COLUMNS, "--rounds", "5", *more)
        assert (told["option_columns"], told["context_columns"]) == (["price", "kind"], ["hour"])
    told = answer("run", shop, *COLUMNS, "--rounds", "5", "--option-columns", "price,kind,hour")
    assert told["context_columns"] == []


def test_saved_resumed_and_drawn(answer, shop):
    """In two parts as in one."""
    rows = table()
    write(shop.with_name("first.csv"), rows[:361])
    write(shop.with_name("second.csv"), [rows[0], *rows[361:]])
    first = answer("run", "first.csv", *COLUMNS, "--save", "model.bb", "--set", "max_memory=67108864")
    second = answer("run", "second.csv", *COLUMNS, "--resume", "model.bb", "--plot", "curve.svg")
    whole = answer("run", shop, *COLUMNS, "--set", "max_memory=67108864")
    assert (first["mean_reward"] + second["mean_reward"]) / 2 == pytest.approx(whole["mean_reward"])
    assert shop.with_name("curve.svg").exists()
    skipped = answer("run", shop, *COLUMNS, "--resume", "model.bb", "--skip", "120")
    assert skipped["mean_reward"] == second["mean_reward"]


def test_rewards_in_a_range(answer, bb, shop):
    rows = [(*row[:5], row[5] * 7 if n else "bought") for n, row in enumerate(table())]
    write(shop, rows)
    refused = bb("run", shop, *COLUMNS)
    assert refused.exit_code == 1
    assert "column 'bought' has the reward 7.0 in decision 'v" in refused.stderr
    assert answer("run", shop, *COLUMNS, "--reward-range", "0:7")["mean_reward"] > 2


def test_json_lines(answer, home):
    head, *rows = table(40)
    lines = [json.dumps(dict(zip(head, row, strict=True))) for row in rows]
    (home / "shop.jsonl").write_text("\n".join(lines))
    write(home / "shop.csv", [head, *rows])
    one, other = (answer("run", f"shop.{kind}", *COLUMNS)["mean_reward"] for kind in ("jsonl", "csv"))
    assert one == other


REFUSED = {
    "no option": (["--decision", "visit", "--rewards", "bought"], "--decision needs --option"),
    "no decision": (["--option", "article", "--rewards", "bought,price"], "--option goes with --decision"),
    "two rewards": ([*COLUMNS[:4], "--rewards", "bought,price"], "needs --rewards with one column"),
    "no rewards": ([*COLUMNS[:4], "--label", "bought"], "needs --rewards with one column"),
    "learner": ([*COLUMNS, "--learner", "GapBoost"], "--learner GapBoost chooses among labels"),
    "url": ([*COLUMNS, "--url", "http://127.0.0.1:1"], "--url plays files with labels only"),
    "shuffle": ([*COLUMNS, "--shuffle"], "--shuffle is not for files with a row for each option"),
    "dates": ([*COLUMNS, "--dates", "hour"], "--dates is not for files with a row for each option"),
    "no column": ([*COLUMNS[:3], "artikle", *COLUMNS[4:]], "has no column 'artikle'"),
    "one column twice": ([*COLUMNS[:3], "visit", *COLUMNS[4:]], "column 'visit' is named twice"),
    "skip": ([*COLUMNS, "--skip", "240"], "leaves nothing of a stream of 240 rounds"),
    "told wrongly": ([*COLUMNS, "--option-columns", "price"], "column 'kind' differs between the options"),
    "told an unknown one": ([*COLUMNS, "--option-columns", "weight"], "option_columns has 'weight'"),
    "parameter": ([*COLUMNS, "--set", "edge=0.1"], "'edge' is no parameter of OptionBoost"),
    "nothing to choose": (
        ["--decision", "article", "--option", "visit", "--rewards", "bought"],
        "comes again",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(bb, shop, arguments, message):
    result = bb("run", shop, *arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())


def test_a_model_with_labels_is_not_resumed(bb, shop, pets):
    assert bb("run", pets, "--label", "pet", "--save", "pets.bb").exit_code == 0
    result = bb("run", shop, *COLUMNS, "--resume", "pets.bb")
    assert result.exit_code != 0
    assert "pets.bb holds a GapBoost, which chooses among labels" in " ".join(result.stderr.split())


def test_a_model_of_options_plays_no_labels(bb, shop, pets):
    assert bb("run", shop, *COLUMNS, "--rounds", "10", "--save", "shop.bb").exit_code == 0
    result = bb("run", pets, "--label", "pet", "--resume", "shop.bb")
    assert result.exit_code != 0
    assert "shop.bb holds an OptionBoost, which chooses among options" in " ".join(result.stderr.split())
