"""The ablation: what is played is what the table says, a stopped study goes on, and the page follows from the
records alone.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from banditboost import AdaBandit, HoeffdingTree, datasets, play, schedules
from banditboost.experiments.protocol import STREAMS
from benchmarks import ablation, ablation_page
from benchmarks.ablation import Run, all_runs, main, scores
from benchmarks.variants import (
    BASE,
    FRESH,
    PAPER,
    RECOMMENDED,
    VARIANTS,
    Variant,
    follow_last_expert,
    scale_steps,
)

compiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="thousands of rounds: too long without the compiler"
)
ROUNDS = 60
SMALL = Variant("base", "small", {"n_learners": 3})


def small_model(**parameters: Any) -> AdaBandit:
    return AdaBandit(["R", "B", "L"], n_learners=4, exploration="divided", seed=4, **parameters)


def small_stream() -> tuple[Any, Any]:
    stream = datasets.load("balance").stream(seed=4, rounds=ROUNDS)
    return stream.X, np.asarray(stream.labels)[stream.y]


def record(variant: Variant, data: str, seed: int, last: float, part: str = "whole") -> dict[str, Any]:
    found = {"rounds": 100, "accuracy": last / 2, "last_accuracy": last}
    return {
        "id": f"{variant.name}/{data}/{seed}/{part}",
        "variant": variant.name,
        "task": {"source": {"name": data}, "seed": seed},
        "whole": None,
        "beginning": None,
        "machine": {"cpu": "abacus", "cores": 1},
        "versions": {"banditboost": "1.0"},
        "finished": "2026-01-02T03:04:05+00:00",
        part: found,
    }


def test_the_base_and_what_is_recommended() -> None:
    """As the guide writes it."""
    stream = datasets.load("car").stream(seed=4, rounds=1)
    for variant, tree in ((BASE, None), (RECOMMENDED, HoeffdingTree(leaf_prediction="adaptive"))):
        expected = AdaBandit(
            stream.labels,
            n_learners=40,
            exploration=schedules.Divided(),
            tie_tolerance=1.0,
            weak_learner=tree,
            schema=stream.schema(),
            seed=4,
        )
        made = variant.make(stream, "car", 4)
        assert made.parameters == expected.parameters
        assert made.weak_learner == expected.weak_learner


def test_the_papers_parameters_differ_from_stream_to_stream() -> None:
    assert PAPER.parameters("mice")["exploration"] == 0.1
    assert PAPER.parameters("car")["exploration"] == 0.001
    assert "tie_tolerance" not in PAPER.parameters("car")


def test_every_variant_can_be_made_and_no_two_are_the_same() -> None:
    stream = datasets.load("balance").stream(seed=4, rounds=1)
    for variant in VARIANTS:
        assert type(variant.make(stream, "balance", 4)).__name__ == variant.learner
    assert len({variant.name for variant in VARIANTS}) == len(VARIANTS)
    assert len({Run(variant, "balance", 4).id for variant in VARIANTS}) == len(VARIANTS)


def test_steps_are_scaled() -> None:
    X, y = small_stream()
    plain, scaled = small_model(), small_model()
    scale_steps(scaled, 10.0)
    for model in (plain, scaled):
        play(model, X[:1], y[:1])
    assert np.any(plain.alphas)
    np.testing.assert_allclose(scaled.alphas, 10.0 * plain.alphas)


def test_the_last_expert_is_followed_to_the_end() -> None:
    X, y = small_stream()
    plain, followed = small_model(), small_model()
    follow_last_expert(followed)
    for model in (plain, followed):
        play(model, X, y)
    assert followed.expert_weights.tolist() == [0, 0, 0, 1]
    assert plain.expert_weights[-1] < 1


def test_each_run_is_planned_once_and_the_base_comes_first() -> None:
    runs = list(all_runs())
    assert len({run.id for run in runs}) == len(runs)
    assert {run.data for run in runs[:88]} == set(STREAMS)
    assert {run.variant for run in runs[:88]} == {BASE, RECOMMENDED}
    assert {run.variant for run in runs} == set(VARIANTS)


def test_some_streams_and_seeds() -> None:
    some = ablation.some_runs(["car"], seeds=2)
    assert {run.data for run in some} == {"car"}
    assert {run.seed for run in some} == {4, 5}
    assert not {run.seed for run in ablation.some_runs(list(STREAMS), seeds=10)} & set(FRESH)
    assert len(ablation.some_runs(list(STREAMS), seeds=None)) == len(list(all_runs()))


def test_scores_of_the_last_fifth() -> None:
    assert scores(np.array([False] * 8 + [True, False])) == {
        "rounds": 10,
        "accuracy": 0.1,
        "last_accuracy": 0.5,
    }


@compiled
def test_the_beginning_of_a_whole_run_is_the_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "LONG", ("balance",))
    monkeypatch.setattr(ablation, "BEGINNING", 500)
    whole, short = Run(SMALL, "balance", 4).play(), Run(SMALL, "balance", 4, rounds=500).play()
    assert whole["whole"]["rounds"] == 6250
    assert short["whole"] is None
    assert whole["beginning"] == short["beginning"]
    assert whole["id"] != short["id"]


@compiled
def test_a_stopped_study_goes_on_and_the_page_is_made_from_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = [Run(BASE, "balance", 4), Run(BASE, "balance", 5)]
    monkeypatch.setattr(ablation, "all_runs", lambda: iter(plan))
    arguments = ["--records", str(tmp_path / "records.jsonl"), "--target", str(tmp_path)]
    main([*arguments, "--seeds", "1"])
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert len(lines) == 1
    main(arguments)
    assert (tmp_path / "records.jsonl").read_text().splitlines()[0] == lines[0]
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == 2
    page = (tmp_path / "ablation.md").read_bytes()
    (tmp_path / "ablation.md").unlink()
    monkeypatch.setattr(Run, "play", lambda _: pytest.fail("nothing is left to play"))
    main(arguments)
    main([*arguments, "--page"])
    assert (tmp_path / "ablation.md").read_bytes() == page


def test_records_of_another_plan_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = Run(BASE, "car", 4)
    monkeypatch.setattr(ablation, "all_runs", lambda: iter([planned]))
    results = ablation.Results(tmp_path / "records.jsonl")
    results.append({**record(BASE, "car", 4, 0.9), "id": planned.id})
    results.append(record(BASE, "car", 5, 0.1))
    main(["--records", str(results.path), "--target", str(tmp_path), "--page"])
    with (tmp_path / "ablation.csv").open(newline="") as file:
        assert [(row["seeds"], row["last_accuracy"]) for row in csv.DictReader(file)] == [("1", "0.9")]


def test_gains_are_those_on_the_same_seeds() -> None:
    records = [record(BASE, "car", seed, last) for seed, last in ((4, 0.9), (5, 0.8), (6, 0.1))]
    records += [record(PAPER, "car", seed, last) for seed, last in ((4, 0.91), (5, 0.83))]
    base, paper = ablation_page.means(records)
    assert (base["seeds"], base["last_accuracy"], base["last_accuracy_gain"]) == (3, 0.6, 0.0)
    assert (paper["seeds"], paper["last_accuracy"], paper["last_accuracy_gain"]) == (2, 0.87, 0.02)
    assert paper["accuracy_gain"] == 0.01


def test_sure_gains_and_losses_are_marked_and_few_seeds_are_not() -> None:
    better, worse, few = VARIANTS[2:5]
    records = [record(BASE, "car", seed, 0.8 + 0.01 * seed) for seed in range(3)]
    records += [record(better, "car", seed, 0.85 + 0.011 * seed) for seed in range(3)]
    records += [record(worse, "car", seed, 0.75 + 0.011 * seed) for seed in range(3)]
    records += [record(few, "car", 0, 0.2), record(few, "car", 1, 0.2), record(few, "balance", 0, 0.3)]
    lines = ablation_page.table(ablation_page.means(records)).splitlines()
    assert [line.split("|")[3].strip() for line in lines[2:]] == [
        "0.810 ± 0.025",
        "0.861 ± 0.027 ▲",
        "0.761 ± 0.027 ▼",
        "0.200",
        "3; 2 to 3",
    ]


def test_fresh_seeds_are_kept_apart() -> None:
    records = [
        record(BASE, "car", 4, 0.8),
        record(BASE, "car", FRESH[0], 0.9),
        record(PAPER, "car", FRESH[0], 0.7),
    ]
    found = [
        (row["part"], row["last_accuracy"], row["last_accuracy_gain"]) for row in ablation_page.means(records)
    ]
    assert found == [("whole", 0.8, 0.0), ("fresh", 0.9, 0.0), ("fresh", 0.7, -0.2)]


def test_other_boosters_are_compared_with_themselves() -> None:
    optimal = [variant for variant in VARIANTS if variant.learner == "OptBandit"]
    records = [
        record(BASE, "car", 4, 0.9),
        record(optimal[0], "car", 4, 0.5),
        record(optimal[1], "car", 4, 0.6),
    ]
    assert [row["last_accuracy_gain"] for row in ablation_page.means(records)] == [0.0, 0.0, 0.1]


def test_the_page_says_what_was_reached_and_what_was_not() -> None:
    records = [record(RECOMMENDED, "balance", 4, 0.98), record(RECOMMENDED, "car", 4, 0.98)]
    records += [
        record(RECOMMENDED, "car", FRESH[0], 0.99),
        record(BASE, "movement", 4, 0.5, part="beginning"),
    ]
    page = ablation_page.page(records, ablation_page.means(records))
    balance, car = (
        next(line for line in page.splitlines() if line.startswith(f"| {name} "))
        for name in ("Balance", "Car")
    )
    assert "0.980 (1), reached |" in balance
    assert "0.980 (1), missed by 0.0050 | 0.990 (1), reached |" in car
    assert "2026-01-02" in page
    assert "abacus, 1 cores" in page


def test_the_published_page_shows_the_published_table() -> None:
    with (ablation.TARGET / "ablation.csv").open(newline="", encoding="utf-8") as file:
        rows = [{name: number(value) for name, value in row.items()} for row in csv.DictReader(file)]
    page = (ablation.TARGET / "ablation.md").read_text(encoding="utf-8")
    whole = [row for row in rows if row["part"] == "whole"]
    assert ablation_page.table([row for row in whole if row["learner"] == "AdaBandit"]) in page
    assert ablation_page.table(whole, "accuracy") in page


def number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
