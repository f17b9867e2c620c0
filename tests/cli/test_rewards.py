"""`banditboost run` on a file that says what each label would earn, and what `data check` proposes."""

from __future__ import annotations

import json
import shlex

import pytest

import banditboost
from banditboost import datasets
from banditboost.cli import data_choice

ROWS = [("uvw"[i % 3], i % 10, 0.5 * (i % 11), 3 if i % 3 == 0 else 1) for i in range(600)]


@pytest.fixture
def prices(home):
    """600 rows, two features, a price for each of two labels."""
    path = home / "prices.csv"
    lines = [f"{kind},{hour},{film},{news}" for kind, hour, film, news in ROWS]
    path.write_text("\n".join(["kind,hour,price_film,price_news", *lines]))
    return path


def options(*more):
    return ["--rewards", "price_*", "--reward-range", "0:5", *more]


def test_what_is_told(answer, prices):
    told = answer("run", prices, *options())
    table = datasets.read(prices, rewards=["price_*"])
    model = banditboost.GapBoost(table.labels, rewards=(0, 5), schema=table.schema(), seed=4)
    result = banditboost.play(model, **table.to_play())
    whole, last = result.interval(), result.interval(last=True)
    assert told["mean_reward"] == pytest.approx(result.mean_reward, abs=1e-12)
    assert told["mean_reward_interval"] == pytest.approx([whole.low, whole.high])
    assert told["last_mean_reward_interval"] == pytest.approx([last.low, last.high])
    assert told["greedy_mean_reward"] == pytest.approx(result.greedy_mean_reward)
    assert told["mean_rewards"] == pytest.approx(table.mean_rewards)
    assert (told["reward_range"], told["n_labels"], told["rounds"]) == ([0, 5], 2, 600)
    assert "accuracy" not in told


def test_for_people(bb, prices):
    shown = bb("run", prices, *options()).stdout
    assert "mean reward, last fifth" in shown
    assert "(95 % interval" in shown
    assert "range of rewards             0 to 5" in shown
    assert "accuracy" not in shown


def test_saved_resumed_and_drawn(answer, prices):
    """In two parts as in one; the columns of the second file are in another order."""
    lines = [line.split(",") for line in prices.read_text().split("\n")]
    swapped = [[*cells[:2], cells[3], cells[2]] for cells in [lines[0], *lines[301:]]]
    for name, rows in (("first.csv", lines[:301]), ("second.csv", swapped)):
        prices.with_name(name).write_text("\n".join(map(",".join, rows)))
    first = answer("run", "first.csv", *options("--save", "model.bb"))
    more = ("--rewards", "price_*", "--resume", "model.bb", "--plot", "curve.svg")
    second = answer("run", "second.csv", *more)
    whole = answer("run", prices, *options())
    assert (first["mean_reward"] + second["mean_reward"]) / 2 == pytest.approx(whole["mean_reward"])
    assert second["mean_rewards"].keys() == {"film", "news"}
    assert "mean reward, last 20" in prices.with_name("curve.svg").read_text()


def test_from_the_disk(answer, prices, monkeypatch):
    memory = answer("run", prices, *options())
    monkeypatch.setattr(data_choice, "LARGEST_IN_MEMORY", 10)
    disk = answer("run", prices, *options())
    for name in ("mean_reward", "last_mean_reward", "mean_rewards", "rounds"):
        assert disk[name] == memory[name]


@pytest.mark.parametrize("learner", ["AdaBandit", "Majority"])
def test_other_bandit_learners(answer, prices, learner):
    assert 0 < answer("run", prices, *options("--learner", learner))["mean_reward"] < 5


def refusal(result):
    assert result.exit_code != 0
    return " ".join(result.stderr.split())


RANGE = ["--rewards", "price_*", "--reward-range"]
REFUSED = {
    "range": (
        ["--rewards", "price_*"],
        "'price_film' has the reward 5.0 in row 11, and rewards go from 0 to 1: say --reward-range 0.0:5.0",
    ),
    "no range": ([*RANGE, "5"], "--reward-range '5' is not LOW:HIGH"),
    "range upside down": ([*RANGE, "5:0"], "--reward-range '5:0' is not LOW:HIGH"),
    "NaN": ([*RANGE, "nan:1"], "is not LOW:HIGH"),
    "range alone": (["--label", "kind", "--reward-range", "0:5"], "name their columns with --rewards"),
    "nothing": (["--rewards", " , "], "--rewards is empty"),
    "both": (options("--label", "kind"), "--label kind and --rewards are both given"),
    "no such columns": (["--rewards", "prize_*"], "rewards has 'prize_*', and no column is called so"),
    "one column": (["--rewards", "price_film"], "one column: give a column for each label"),
    "twice": (["--rewards", "price_*,price_film"], "rewards has column 'price_film' twice"),
    "texts": (["--rewards", "kind,hour"], "column 'kind' holds 'u' in row 1, which is no reward"),
    "a use": (options("--nominal", "price_film"), "'price_film' is in rewards, and is named in nominal"),
    "no features": (options("--ignore", "kind,hour"), "no column besides the rewards"),
    "told labels": (options("--learner", "AdaFull"), "AdaFull is told right labels and learns no rewards"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(bb, prices, arguments, message):
    assert message in refusal(bb("run", prices, *arguments))


def test_built_in_sets_have_none(bb):
    assert "--rewards is for files" in refusal(bb("run", "car", "--rewards", "a,b"))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", "has no reward in 1 row, the first is row 2: each row"),
        ("nan", "has no reward in 1 row, the first is row 2"),
        ("inf", "is infinite in row 2"),
        ("red", "holds 'red' in row 2, which is no reward"),
        ("-1", "has the reward -1.0 in row 2"),
    ],
)
def test_bad_cells(bb, home, cell, message):
    (home / "bad.csv").write_text(f"x,price_a,price_b\n1,0.5,1\n2,0.5,{cell}\n3,1,0\n")
    assert message in refusal(bb("run", "bad.csv", "--rewards", "price_*"))


def test_another_range_or_model_when_resumed(bb, answer, prices):
    answer("run", prices, *options("--save", "model.bb"))
    again = bb("run", prices, *RANGE, "0:9", "--resume", "model.bb")
    assert "cannot be changed with --resume: the model was made for 0:5" in refusal(again)
    strange = bb("run", prices, "--rewards", "price_film,hour", "--resume", "model.bb")
    assert refusal(strange)
    (prices.parent / "few.csv").write_text("kind,hour,price_film,price_\nu,1,2,3\nv,2,3,1\n")
    labels = bb("run", prices, "--label", "kind", "--learner", "AdaFull", "--save", "full.bb")
    assert labels.exit_code == 0, labels.stderr
    told = bb("run", prices, "--rewards", "price_*", "--resume", "full.bb")
    assert "the saved AdaFull is told right labels, and learns no rewards" in refusal(told)


# data check


def test_check_proposes_rewards(bb, answer, prices):
    """What it proposes can be pasted."""
    found = answer("data", "check", prices)
    assert (found["label"], found["options"]) == (None, {"rewards": ["price_*"]})
    assert found["reward_range"] == [0, 5]
    assert found["arguments"][1:] == ["run", str(prices), "--rewards", "price_*", "--reward-range", "0:5"]
    assert shlex.split(found["command"]) == found["arguments"]
    assert answer(*found["arguments"][1:])["rounds"] == 600
    assert "what each label earns" in bb("data", "check", prices).stdout


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("x,reward_a,reward_b", ["1,0.5,0", "2,0,1"], ("reward_*",)),
        ("x,profit.a,profit.b", ["1,-5,0", "2,0,1"], ("profit.*",)),
        ("x,price_a,price_b,price_unit", ["1,5,0,u", "2,0,1,v"], ("price_a", "price_b")),
        ("x,price_a,price_b", ["1,5,", "2,0,1"], None),
        ("x,price_a,price_b,clicked", ["1,5,3,0", "2,0,1,1"], None),
        ("x,price_a,price_b", ["1,2,2", "2,2,2"], None),
        ("x,size_a,size_b", ["1,5,3", "2,0,1"], None),
    ],
)
def test_when_rewards_are_proposed(home, header, rows, said):
    path = home / "table.csv"
    path.write_text("\n".join([header, *rows * 20]))
    found = datasets.check(path)
    assert found.options.get("rewards") == said
    if said is not None:
        assert datasets.read(path, **found.options).rewards is not None
        assert json.dumps(found.reward_range)
        assert "rewards" not in datasets.check(path, label="x").options
