"""`banditboost run`."""

import errno
import json
from pathlib import Path
from unittest.mock import Mock

import matplotlib.image
import numpy as np
import pytest

import banditboost
from banditboost import datasets
from banditboost.cli import data_choice, player, stream
from banditboost.cli.data_choice import DataChoice
from banditboost.cli.learner_choice import parameters_for, parse_value
from banditboost.cli.options import Variant
from banditboost.experiments.learners import make

SHORT = ("--n-learners", 3, "--rounds", 120)


def facts(answered):
    """What does not depend on the clock."""
    return {
        name: value
        for name, value in answered.items()
        if "second" not in name and name not in ("saved", "data", "memory_bytes")
    }


def test_it_tells_what_play_tells(answer):
    found = answer("run", "balance", *SHORT, "--learner", "AdaBandit", "--exploration", 0.2, "--seed", 7)
    rounds = datasets.load("balance").stream(repeat=10, seed=7, rounds=120)
    model = banditboost.AdaBandit(
        rounds.labels, n_learners=3, exploration=0.2, schema=rounds.schema(), seed=7
    )
    result = banditboost.play(model, *rounds)
    assert (found["accuracy"], found["last_accuracy"], found["greedy_accuracy"]) == (
        result.accuracy,
        result.last_accuracy,
        result.greedy_accuracy,
    )
    assert found["explored"] == result.explored.mean() > 0
    assert found["exploration_cost"] == pytest.approx(result.greedy_accuracy - result.accuracy)
    assert (found["rounds"], found["n_labels"], found["seed"]) == (120, 3, 7)


@pytest.mark.parametrize("learner", ["OptBandit", "binbandit", "gapboost", "AdaFull", "OptFull"])
def test_every_learner_runs(answer, learner):
    assert answer("run", "balance", "--learner", learner, *SHORT)["learner"].lower() == learner.lower()


def test_without_options_it_is_the_papers_setting():
    choice = DataChoice("mice")
    assert parameters_for(choice, "AdaBandit", {})["exploration"] == 0.1
    assert choice.times == 8
    assert choice.printed("AdaBandit").last == 0.87


def test_the_papers_figures_stand_beside_ours_only_on_the_papers_stream():
    assert DataChoice("car", repeat=2).printed("AdaBandit") is None
    assert DataChoice("car", variant=Variant.raw).printed("AdaBandit") is None
    assert DataChoice("car", rounds=100).printed("AdaBandit") is None
    assert DataChoice("pets.csv").printed("AdaBandit") is None


def test_people_read_a_summary(bb):
    result = bb("run", "balance", *SHORT)
    assert result.exit_code == 0
    assert result.stdout.startswith("GapBoost on balance: 120 rounds, 3 labels, 3 trees for each label\n")
    for word in (
        "last fifth",
        "whole stream",
        "greedy label",
        "cost of exploration",
        "rounds per second",
        "MiB",
    ):
        assert word in result.stdout
    assert result.stderr == ""


def test_who_is_told_the_label_pays_nothing_for_exploration(bb):
    assert "told the right label" in bb("run", "balance", "--learner", "AdaFull", *SHORT).stdout


def test_a_file_is_played_in_its_order_unless_shuffled(answer, pets):
    once = answer("run", pets, "--label", "pet", "--n-learners", 3)
    assert once["rounds"] == 300
    assert once["accuracy"] > 0.5
    table = datasets.read(pets, "pet")
    model = banditboost.GapBoost(table.labels, n_learners=3, schema=table.schema(), seed=4)
    assert once["accuracy"] == banditboost.play(model, table.X, table.y).accuracy
    assert facts(answer("run", pets, "--label", "pet", "--n-learners", 3, "--shuffle")) != facts(once)


def test_columns_can_be_left_out(answer, pets):
    with_colour = answer("run", pets, "--label", "pet", "--n-learners", 3)
    without = answer("run", pets, "--label", "pet", "--n-learners", 3, "--ignore", "colour")
    assert without["greedy_accuracy"] < with_colour["greedy_accuracy"]


def test_a_large_file_is_streamed_with_the_same_result(answer, pets, monkeypatch):
    command = ("run", pets, "--label", "pet", "--n-learners", 3, "--rounds", 250, "--skip", 30)
    in_memory = answer(*command)
    monkeypatch.setattr(data_choice, "LARGEST_IN_MEMORY", 0)
    monkeypatch.setattr(stream, "_LARGEST", 70)
    assert facts(answer(*command)) == facts(in_memory)
    assert in_memory["rounds"] == 220


def test_a_large_file_is_not_shuffled(bb, pets, monkeypatch):
    monkeypatch.setattr(data_choice, "LARGEST_IN_MEMORY", 0)
    result = bb("run", pets, "--label", "pet", "--shuffle")
    assert result.exit_code == 2
    assert "too large to be shuffled" in result.stderr


def test_saved_and_resumed_is_the_same_as_in_one_go(answer, pets):
    command = ("run", pets, "--label", "pet")
    whole = answer(*command, "--n-learners", 3)
    first = answer(*command, "--n-learners", 3, "--rounds", 100, "--save", "pets.bb")
    assert first["saved"] == "pets.bb"
    second = answer(*command, "--resume", "pets.bb", "--skip", 100)
    assert (first["rounds"], second["rounds"]) == (100, 200)
    assert first["accuracy"] * 100 + second["accuracy"] * 200 == pytest.approx(whole["accuracy"] * 300)
    assert second["memory_bytes"] == whole["memory_bytes"]


def test_ctrl_c_keeps_the_model_and_says_how_to_go_on(bb, answer, pets, monkeypatch):
    monkeypatch.setattr(stream, "_SMALLEST", 50)
    command = ("run", pets, "--label", "pet")
    whole = answer(*command, "--n-learners", 3)
    real, calls = player.play, iter([True, True])

    def interrupted(*arguments):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(player, "play", interrupted)
        result = bb(*command, "--n-learners", 3, "--save", "pets.bb")
    assert result.exit_code == 130
    assert "100 rounds, 3 labels" in result.stdout
    assert result.stderr.strip().endswith("--resume pets.bb --skip 100")
    rest = answer(*command, "--resume", "pets.bb", "--skip", 100)
    assert rest["rounds"] == 200
    assert rest["memory_bytes"] == whole["memory_bytes"]


def test_ctrl_c_before_the_first_block_still_answers(bb, home, monkeypatch):
    monkeypatch.setattr(player, "play", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = bb("run", "balance", *SHORT, "--plot", "curve.png", "--json")
    assert result.exit_code == 130
    assert '"rounds": 0' in result.stdout
    assert "--save FILE keeps it" in result.stderr
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_full_disk_does_not_take_the_numbers_away(bb, pets, monkeypatch, form):
    def full(self, path):  # noqa: ARG001
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(banditboost.GapBoost, "save", full)
    result = bb("run", pets, "--label", "pet", "--save", "pets.bb", *form)
    assert result.exit_code == 1
    assert result.stderr == "error: pets.bb: No space left on device; make room, or give another place\n"
    assert "accuracy" in result.stdout
    if form:
        assert json.loads(result.stdout)["saved"] is None


def test_ctrl_c_before_the_first_round_says_so(bb, pets, monkeypatch):
    monkeypatch.setattr("banditboost.experiments.run.warm_up", Mock(side_effect=KeyboardInterrupt))
    result = bb("run", pets, "--label", "pet", "--save", "pets.bb")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "stopped; the same command begins again\n"
    assert not Path("pets.bb").exists()


def test_a_saved_model_meets_labels_and_values_in_another_order(answer, home):
    """The second file has the same rows; its codes differ, the model's do not."""
    rows = [("red", "cat"), ("blue", "dog"), ("green", "fish")] * 40
    for name, first in (("one.csv", "blue,dog"), ("two.csv", "red,cat")):
        (home / name).write_text("colour,pet\n" + first + "\n" + "\n".join(map(",".join, rows)) + "\n")
    answer("run", "one.csv", "--label", "pet", "--n-learners", 3, "--save", "pets.bb")
    (home / "three.csv").write_text(
        "colour,pet\n" + "green,fish\nred,cat\n" * 50
    )  # dog and blue are not in it
    assert answer("run", "three.csv", "--label", "pet", "--resume", "pets.bb")["greedy_accuracy"] > 0.9


def test_a_saved_model_does_not_know_a_new_label(bb, answer, pets, home):
    answer("run", pets, "--label", "pet", "--n-learners", 3, "--save", "pets.bb")
    (home / "more.csv").write_text("weight,colour,pet\n1,red,cat\n2,blue,mouse\n")
    result = bb("run", "more.csv", "--label", "pet", "--resume", "pets.bb")
    assert result.exit_code == 1
    assert "'mouse' is not one of the saved model's" in result.stderr


def test_the_learning_curve_is_drawn(answer, home):
    answer("run", "balance", *SHORT, "--plot", "curve.png")
    assert np.ptp(matplotlib.image.imread(home / "curve.png")) > 0.5


def test_the_curve_begins_at_the_beginning(answer, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "banditboost.experiments.figures.learning_curves", lambda records: drawn.extend(records) or Mock()
    )
    monkeypatch.setattr("banditboost.experiments.figures.save", Mock())
    told = answer("run", "balance", *SHORT, "--plot", "curve.png")
    (curve,) = (record["curve"] for record in drawn)
    assert curve["round"][0] == 1
    assert curve["round"][-1] == 120
    assert curve["accuracy"][-1] == told["last_accuracy"]


def test_a_resumed_model_that_is_not_kept_is_told_of(bb, answer, pets):
    command = ("run", pets, "--label", "pet")
    answer(*command, "--n-learners", 3, "--save", "pets.bb")
    assert (
        bb(*command, "--resume", "pets.bb").stderr
        == "what the model learns now will not be kept; --save pets.bb keeps it\n"
    )
    assert bb(*command, "--resume", "pets.bb", "--save", "pets.bb").stderr == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.1", 0.1),
        ("1e-3", 0.001),
        ("5:20", [5, 20]),
        ("true", True),
        ("majority", "majority"),
        ("a.b:C", "a.b:C"),
        ("1:2:3", "1:2:3"),
    ],
)
def test_values_are_read_as_they_look(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


def test_exploration_may_be_a_schedule(answer, bb):
    told = answer("run", "balance", "--learner", "AdaBandit", *SHORT, "--exploration", "divided")
    assert told["exploration"] == {"schedule": "divided", "least": 0.001, "most": 0.5}
    rounds = datasets.load("balance").stream(repeat=10, seed=4, rounds=120)
    parameters = {
        **parameters_for(DataChoice("balance"), "AdaBandit", {}),
        "n_learners": 3,
        "exploration": "divided",
    }
    assert (
        told["accuracy"]
        == banditboost.play(
            make("AdaBandit", rounds.labels, rounds.schema(), parameters, 4), *rounds
        ).accuracy
    )
    refused = bb("run", "balance", "--learner", "AdaBandit", "--exploration", "often")
    assert refused.exit_code == 2
    assert "theory, decaying, adaptive, divided" in refused.stderr


def test_a_learner_that_cannot_be_saved_is_refused_before_it_is_played(bb, home, monkeypatch):
    (home / "own.py").write_text("from banditboost import AdaBandit\nclass Own(AdaBandit):\n    pass\n")
    monkeypatch.setattr(player.Player, "play", Mock(side_effect=AssertionError("was played")))
    found = bb("run", "balance", "--learner", "own:Own", *SHORT, "--save", home / "own.bb")
    assert (found.exit_code, "pickle it" in found.stderr) == (1, True)
    assert not (home / "own.bb").exists()


def test_one_round_is_one_round(bb):
    assert (
        "AdaBandit on balance: 1 round, 3 labels"
        in bb("run", "balance", "--rounds", 1, "--learner", "AdaBandit").stdout
    )


def test_ctrl_c_after_the_last_round_leaves_nothing_to_go_on_with(bb, home, monkeypatch):
    real = player.play

    def interrupted(model, X, y):
        real(model, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(player, "play", interrupted)
    found = bb("run", "balance", *SHORT, "--learner", "AdaBandit", "--save", home / "whole.bb")
    assert (found.exit_code, "stopped" in found.stderr) == (0, False)
    assert banditboost.load(home / "whole.bb").rounds == 120
