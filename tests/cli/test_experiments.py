"""`banditboost compare`, `tune` and `reproduce`: tasks, tables, figures, and going on after a stop."""

import csv
import json
import os
import shlex
import sys
from dataclasses import replace

import numba
import pytest

from banditboost.cli import compare, output, reproduce
from banditboost.experiments import runner
from banditboost.experiments.statistics import paired_difference

COMPARE = (
    "compare",
    "pets.csv",
    "--label",
    "pet",
    "--learners",
    "AdaBandit,AdaFull",
    "--seeds",
    2,
    "--n-learners",
    3,
    "--jobs",
    1,
)
TUNE = (
    *("tune", "pets.csv", "--label", "pet", "--learner", "AdaBandit"),
    *("--exploration", "0.01,0.3", "--n-learners", "2,4", "--seeds", 2, "--jobs", 1),
)
compiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="thousands of rounds: too long without the compiler"
)


def rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.usefixtures("pets")
def test_learners_are_compared(answer, home):
    found = answer(*COMPARE)
    assert {row["learner"] for row in found["learners"]} == {"AdaBandit", "AdaFull"}
    assert all(row["seeds"] == 2 and 0 < row["accuracy"] <= 1 for row in found["learners"])
    out = home / "compare-pets"
    assert {path.name for path in out.iterdir()} == {
        *("results.jsonl", "summary.csv", "summary.md", "summary.tex", "curves.png", "curves.svg")
    }
    assert [float(row["accuracy"]) for row in rows(out / "summary.csv")] == [
        row["accuracy"] for row in found["learners"]
    ]


@pytest.mark.usefixtures("pets")
def test_the_best_comes_first_and_it_is_said_who_is_told_the_label(answer, bb):
    command = (
        *COMPARE[:4],
        "--learners",
        "Majority,AdaFull,GapBoost",
        "--seeds",
        3,
        "--n-learners",
        3,
        "--jobs",
        1,
    )
    rows = answer(*command)["learners"]
    means = [row["accuracy"] for row in rows]
    assert means == sorted(means, reverse=True)
    assert rows[-1]["learner"] == "Majority"
    assert {row["learner"]: row["feedback"] for row in rows} == {
        "GapBoost": "verdict",
        "AdaFull": "right label",
        "Majority": "verdict",
    }
    assert {row["against"] for row in rows} == {"GapBoost"}  # the best of those that hear verdicts
    text = bb(*command).stdout
    assert "3 seeds" in text
    assert "right label" in text
    assert "±" in text
    assert "picked after the runs" in text


@pytest.mark.usefixtures("pets")
def test_differences_are_those_of_the_same_seeds(answer, home):
    found = answer(
        *COMPARE[:4], "--learners", "Majority,AdaBandit", "--against", "majority", "--seeds", 3, "--jobs", 1
    )
    scores = {}
    for line in (home / "compare-pets" / "results.jsonl").read_text().splitlines():
        record = json.loads(line)
        scores[record["task"]["learner"], record["task"]["seed"]] = record["accuracy"]
    seeds = (4, 5, 6)
    expected = paired_difference(
        *({seed: scores[name, seed] for seed in seeds} for name in ("AdaBandit", "Majority"))
    )
    row = next(row for row in found["learners"] if row["learner"] == "AdaBandit")
    assert row["against"] == "Majority"
    assert row["common_seeds"] == 3
    assert row["difference"] == pytest.approx(expected.mean, abs=1e-5)
    assert row["difference_half_interval"] == pytest.approx(expected.half_width, abs=1e-5)


@pytest.mark.usefixtures("pets")
def test_two_seeds_have_no_interval_and_it_is_said_why(bb, answer):
    text = bb(*COMPARE).stdout
    assert "±" not in text
    assert "mean over 2 seeds; intervals take at least 3 seeds" in " ".join(text.split())
    assert all(row["accuracy_half_interval"] is None for row in answer(*COMPARE)["learners"])


def test_majority_is_among_the_learners_by_default():
    assert compare.DEFAULT.split(",")[-1] == "Majority"


@pytest.mark.usefixtures("pets")
def test_what_was_played_is_not_played_again(answer, bb, home, monkeypatch):
    first = answer(*COMPARE)
    played = []
    monkeypatch.setattr(runner, "run_task", lambda task, _: played.append(task))
    assert answer(*COMPARE) == first
    assert played == []
    text = bb(*COMPARE).stdout
    assert "AdaBandit" in text
    assert "2 seeds" in text
    assert len((home / "compare-pets" / "results.jsonl").read_text().splitlines()) == 4


@pytest.mark.usefixtures("pets")
def test_ctrl_c_says_that_the_same_command_goes_on(answer, bb, monkeypatch):
    real, calls = runner.run_task, iter(range(3))

    def interrupted(task, directory):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return real(task, directory)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "run_task", interrupted)
        result = bb(*COMPARE)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "3 of 4 runs are kept in compare-pets/results.jsonl; the same command goes on" in result.stderr
    assert len(answer(*COMPARE)["learners"]) == 2


@pytest.mark.usefixtures("pets")
def test_a_grid_is_searched(answer, home):
    found = answer(*TUNE)
    assert len(found["ranking"]) == 4
    means = [row["accuracy"] for row in found["ranking"]]
    assert means == sorted(means, reverse=True)
    assert found["best"]["exploration"] == 0.01
    assert found["command"].startswith(
        "banditboost run pets.csv --label pet --learner AdaBandit --set exploration=0.01 --set n_learners="
    )
    assert {path.name for path in (home / "tune-pets").iterdir()} == {
        "results.jsonl",
        "ranking.csv",
        "ranking.md",
        "ranking.tex",
        "exploration.png",
        "exploration.svg",
    }


@compiled
@pytest.mark.usefixtures("pets")
def test_halving_drops_what_is_bad_early(answer):
    found = answer(*TUNE, "--method", "halving", "--repeat", 6)
    assert [row["rounds"] for row in found["ranking"]] == [1800, 1800, 600, 600]
    assert found["best"]["exploration"] == 0.01


@pytest.mark.usefixtures("pets")
def test_schedules_are_tried_beside_rates(answer, home):
    command = (
        "tune",
        "pets.csv",
        "--label",
        "pet",
        "--learner",
        "AdaBandit",
        "--n-learners",
        "3",
        "--seeds",
        1,
        "--jobs",
        1,
    )
    found = answer(*command, "--exploration", "0.01,0.1,divided")
    assert {row["exploration"] for row in found["ranking"]} == {"0.01", "0.1", "divided"}
    assert (home / "tune-pets" / "exploration.png").exists()  # of the two rates


@pytest.mark.usefixtures("pets")
def test_without_rates_there_is_nothing_to_plot(answer, home):
    answer(
        "tune",
        "pets.csv",
        "--label",
        "pet",
        "--learner",
        "AdaFull",
        "--n-learners",
        "2,3",
        "--seeds",
        1,
        "--jobs",
        1,
    )
    assert not (home / "tune-pets" / "exploration.png").exists()


@pytest.mark.usefixtures("pets")
def test_without_a_wish_gapboost_is_tuned(answer):
    found = answer("tune", "pets.csv", "--label", "pet", "--rounds", 60, "--seeds", 1, "--jobs", 1)
    assert found["learner"] == "GapBoost"
    assert len(found["ranking"]) == 9
    assert {row["grace_period"] for row in found["ranking"]} == {"5 to 10", "20 to 50", "50 to 200"}
    words = shlex.split(found["command"])
    assert words[:6] == ["banditboost", "run", "pets.csv", "--label", "pet", "--learner"]
    assert answer(*words[1:])["learner"] == "GapBoost"


@pytest.mark.usefixtures("pets")
def test_a_ranking_of_one_seed_reads_well(bb):
    text = bb(
        "tune", "pets.csv", "--label", "pet", "--n-learners", "2,3", "--rounds", 60, "--seeds", 1, "--jobs", 1
    ).stdout
    assert text.splitlines()[0].strip() == "GapBoost on pets: 2 combinations, 1 seed each"
    assert "±" not in text
    assert "one seed; intervals take at least 3 seeds" in " ".join(text.split())


OWN = """
from banditboost.boosting.adaptive import AdaBandit


class Mine(AdaBandit):
    def __init__(self, labels, *, n_learners=2, exploration=0.1, schema=None, seed=None):
        super().__init__(labels, n_learners=n_learners, exploration=exploration, schema=schema, seed=seed)


class First:
    def predict(self, x):
        return 0

    def learn(self, x, label, weight):
        pass


class Needs(First):
    def __init__(self, what):
        pass


class Bad(First):
    def learn(self, x, label, weight):
        raise RuntimeError("it cannot")
"""
SHORT = ("compare", "balance", "--rounds", 60, "--seeds", 1, "--jobs", 1, "--learners")


@pytest.fixture
def own(home, monkeypatch):
    """A module in the current directory, which the command line finds by itself."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (home / "own_learners.py").write_text(OWN)
    yield
    sys.modules.pop("own_learners", None)


@pytest.mark.usefixtures("pets", "own")
def test_learners_of_ones_own_are_compared_with_ours(answer):
    names = ["own_learners:Mine", "AdaBandit", "AdaBandit+own_learners:First"]
    found = answer(*COMPARE[:4], "--learners", ",".join(names), "--n-learners", 2, "--seeds", 1, "--jobs", 2)
    accuracy = {row["learner"]: row["accuracy"] for row in found["learners"]}
    assert set(accuracy) == set(names)
    assert accuracy["AdaBandit"] > accuracy["AdaBandit+own_learners:First"]
    alone = answer(
        *COMPARE[:4],
        "--learners",
        "AdaBandit",
        "--set",
        "weak_learner=own_learners:First",
        "--n-learners",
        2,
        "--seeds",
        1,
        "--jobs",
        1,
    )
    assert alone["learners"][0]["learner"] == "AdaBandit+own_learners:First"
    assert alone["learners"][0]["accuracy"] == accuracy["AdaBandit+own_learners:First"]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("learner", "told"),
    [
        ("AdaBandit+own_learners:Needs", "AdaBandit+own_learners:Needs cannot be made: TypeError: Needs."),
        (
            "AdaBandit+own_learners:Bad",
            "AdaBandit+own_learners:Bad on balance, seed 4: RuntimeError: it cannot",
        ),
        ("AdaBandit+", "'AdaBandit+': behind the + comes a weak learner, as MODULE:CLASS"),
    ],
)
def test_what_is_wrong_with_a_learner_of_ones_own_is_told_in_one_line(bb, learner, told):
    refused = bb(*SHORT, learner)
    assert refused.exit_code in (1, 2)
    assert refused.exception is None or isinstance(refused.exception, SystemExit)
    assert refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert line.startswith("error: ")
    assert told in line


@pytest.mark.usefixtures("own")
def test_weak_learners_of_ones_own_are_not_called_trees(bb):
    told = bb(
        "run", "balance", "--rounds", 60, "--learner", "AdaBandit+own_learners:First", "--n-learners", 3
    )
    assert told.stdout.startswith("AdaBandit on balance: 60 rounds, 3 labels, 3 weak learners (First)\n")
    assert (
        ", 3 trees\n"
        in bb("run", "balance", "--rounds", 60, "--learner", "AdaBandit", "--n-learners", 3).stdout
    )


def test_a_learner_alone_is_compared_with_nobody(bb, answer):
    text = " ".join(bb(*SHORT, "Majority").stdout.split())
    assert "Minus" not in text
    assert "picked after the runs" not in text
    assert "Last fifth" in text
    assert answer(*SHORT, "Majority")["learners"][0]["against"] == "Majority"


@pytest.mark.usefixtures("own")
def test_that_a_class_was_edited_since_its_runs_is_said(bb, home, monkeypatch):
    said = []
    monkeypatch.setattr(output, "say", lambda text: said.extend([text] if text else []))
    learners = "AdaBandit+own_learners:First,Majority"
    first = bb(*SHORT, learners)
    assert (first.stderr, len(said)) == ("", 1)  # the files that were written
    again = bb(*SHORT, learners)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    assert said[1].startswith("2 runs of 20")
    assert said[1].endswith("results.jsonl, and not played again")
    path = home / "own_learners.py"
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 3600))
    edited = bb(*SHORT, learners)
    assert edited.stdout == first.stdout
    assert f"{path} was edited after 1 run in compare-balance" in edited.stderr
    assert "give another --out to play them anew" in edited.stderr


@pytest.mark.usefixtures("own")
def test_on_a_set_of_the_paper_a_weak_learner_replaces_the_papers_trees(answer):
    found = answer(
        "compare",
        "balance",
        "--learners",
        "AdaBandit+own_learners:First",
        "--rounds",
        60,
        "--seeds",
        1,
        "--jobs",
        1,
    )
    assert found["learners"][0]["learner"] == "AdaBandit+own_learners:First"


@pytest.mark.usefixtures("pets", "own")
def test_a_learner_of_ones_own_is_tuned_and_run(answer):
    found = answer(
        "tune",
        "pets.csv",
        "--label",
        "pet",
        "--learner",
        "own_learners:Mine",
        "--n-learners",
        "1,2",
        "--seeds",
        1,
        "--jobs",
        1,
    )
    assert found["learner"] == "own_learners:Mine"
    told = answer(*shlex.split(found["command"])[1:])
    assert (told["learner"], told["n_learners"]) == ("Mine", found["best"]["n_learners"])


SHEETS = ("table1", "within", "orders")


@compiled
def test_a_table_of_the_paper_is_made_and_made_again_without_playing(answer, bb, home, monkeypatch):
    command = (
        "reproduce",
        "table1",
        "--datasets",
        "balance",
        "--algorithms",
        "adabandit,OptFull",
        "--seeds",
        2,
        "--jobs",
        1,
    )
    found = answer(*command)
    cells = {(row["algorithm"], row["protocol"]): row for row in found["tables"]["table1"]}
    assert set(cells) == {(name, mode) for name in ("AdaBandit", "OptFull") for mode in ("text", "ours")}
    for mode in ("text", "ours"):
        cell = cells["AdaBandit", mode]
        assert cell["paper"] == 0.97
        assert cell["difference"] == pytest.approx(cell["accuracy"] - 0.97)
        assert cell["accuracy"] > 0.9
    sheets = {f"{name}.{ending}" for name in SHEETS for ending in ("csv", "md", "tex")}
    assert {path.name for path in (home / "reproduction").iterdir()} == {
        *sheets,
        "results.jsonl",
        "report.html",
    }
    monkeypatch.setattr(runner, "run_task", None)
    text = bb(*command).stdout
    assert "printed" in text
    assert "Balance" in text


@compiled
def test_one_mode_is_played_alone(answer, home):
    command = ("reproduce", "estimators", "--protocol", "text", "--datasets", "balance", "--algorithms")
    found = answer(*command, "OptBandit", "--seeds", 1, "--jobs", 1)["tables"]["estimators"]
    assert {row["protocol"] for row in found} == {"text"}
    assert {row["equation"] for row in found} == {3, 4}
    records = (home / "reproduction" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(records) == 2
    assert all(json.loads(line)["task"]["parameters"]["lesson"] == "text" for line in records)


def test_what_is_asked_for_decides_what_is_played():
    order = reproduce.Order(reproduce.What.all, reproduce.Protocol.both, ("car",), (), seeds=range(4, 6))
    tasks = order.tasks()
    assert set(tasks) == {"table1", "table2", "table4", "figure1", "figure2", "estimators", "learners"}
    assert len(tasks["table1"]) == 20
    assert tasks["figure2"] == []
    assert {task.seed for task in tasks["table4"]} == {4, 5}
    ours = replace(order, protocol=reproduce.Protocol.ours).tasks()
    text = replace(order, protocol=reproduce.Protocol.text).tasks()
    assert {name: text[name] + ours[name] for name in tasks} == tasks


def test_quick_is_two_seeds_of_the_built_in_sets():
    assert reproduce._known_datasets(None, quick=True) == ("balance", "car", "nursery")
    assert reproduce._known_datasets("mice", quick=True) == ("mice",)
    assert reproduce._seeds(None, 4, quick=True) == range(4, 6)
    assert reproduce._seeds(5, 7, quick=True) == range(7, 12)
    assert reproduce._seeds(None, 4, quick=False) is None


def test_data_sets_are_listed(answer, bb):
    found = {row["name"]: row for row in answer("data", "list")["datasets"]}
    assert (
        found["car"]["rows"],
        found["car"]["features"],
        found["car"]["classes"],
        found["car"]["built_in"],
    ) == (1728, 6, 4, True)
    text = bb("data", "list").stdout
    assert "165,633" in text
    assert "CC BY 4.0" in text
    assert "columns mixed up" in text


def test_a_model_is_shown(answer, bb, pets):
    answer("run", pets, "--label", "pet", "--n-learners", 3, "--save", "pets.bb")
    found = answer("model", "show", "pets.bb")
    assert (found["class"], found["rounds"], found["labels"]) == ("GapBoost", 300, ["cat", "dog", "fish"])
    assert found["schema"] == {"weight": None, "colour": ["blue", "red"]}
    lines = dict(line.split("  ", 1) for line in bb("model", "show", "pets.bb").stdout.splitlines()[1:])
    assert lines["class"].strip() == "GapBoost"
    assert lines["features"].strip() == "weight, colour (blue, red)"
    assert lines["n learners"].strip() == "3"
    assert json.dumps(found)
