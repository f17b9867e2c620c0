"""Columns of words on the command line: GapBoost reads them, others are played without them and say so."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from banditboost import GapBoost, datasets, load, play
from banditboost.cli import data_choice
from tests.datasets.tables.test_words import rows_of


@pytest.fixture
def news(home):
    """A file of texts, tags, numbers and names: 400 rows, two labels."""
    rows = rows_of(400)
    (home / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def test_run_is_play_on_the_same_rows(answer, news, monkeypatch):
    frame = pd.DataFrame(news)
    table = datasets.read("news.jsonl", "right")
    model = GapBoost(table.labels, schema=table.schema(), seed=4)
    expected = play(model, frame.drop(columns="right"), frame["right"])
    told = answer("run", "news.jsonl", "--label", "right", "--save", "m.bb")
    assert told["accuracy"] == expected.accuracy
    saved, row = load("m.bb"), {"hour": 3, "title": "The cup", "tags": ["w3"]}
    assert saved.distribution(row) == model.distribution(row)
    monkeypatch.setattr(data_choice, "LARGEST_IN_MEMORY", 10)
    from_disk = answer("run", "news.jsonl", "--label", "right", "--words", "title,tags")
    assert from_disk["accuracy"] == expected.accuracy


@pytest.mark.usefixtures("news")
def test_who_cannot_read_words_is_played_without_them(bb, answer):
    told = bb("run", "news.jsonl", "--label", "right", "--learner", "Majority", "--json")
    assert told.exit_code == 0
    assert "Majority cannot read words and is played without 'title', 'tags'" in told.stderr
    plain = answer("run", "news.jsonl", "--label", "right", "--learner", "Majority", "--ignore", "title,tags")
    assert json.loads(told.stdout)["accuracy"] == plain["accuracy"]
    alone = bb("run", "news.jsonl", "--label", "right", "--learner", "Majority", "--ignore", "hour,city,tags")
    assert alone.exit_code == 0, alone.stderr


@pytest.mark.usefixtures("news")
def test_compare_and_tune_say_who_reads_no_words(bb):
    common = ("news.jsonl", "--label", "right", "--seeds", 1, "--jobs", 1, "--json")
    compared = bb("compare", *common, "--learners", "GapBoost,Majority,Random", "--out", "out")
    assert compared.exit_code == 0, compared.stderr
    assert "Majority, Random cannot read words and are played without 'title', 'tags'" in compared.stderr
    best = json.loads(compared.stdout)["learners"][0]
    assert best["learner"] == "GapBoost"
    tuned = bb("tune", *common, "--n-learners", "2,3", "--words", "title", "--out", "tuned")
    assert tuned.exit_code == 0, tuned.stderr
    assert "cannot read words" not in tuned.stderr
    assert "--words title" in json.loads(tuned.stdout)["command"]


def test_a_saved_model_goes_on_with_the_words_it_knows(bb, news, home):
    first = bb("run", "news.jsonl", "--label", "right", "--rounds", 200, "--save", "m.bb")
    assert first.exit_code == 0, first.stderr
    rows = [{**row, "right": row["right"]} for row in reversed(news)]  # other values and labels come first
    (home / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    went_on = bb("run", "more.jsonl", "--label", "right", "--resume", "m.bb", "--save", "m.bb", "--json")
    assert went_on.exit_code == 0, went_on.stderr
    assert json.loads(went_on.stdout)["accuracy"] > 0.7
    without = bb("run", "more.jsonl", "--label", "right", "--resume", "m.bb", "--ignore", "title,tags")
    assert without.exit_code == 0, without.stderr
    assert bb("run", "news.jsonl", "--label", "right", "--ignore", "tags", "--save", "n.bb").exit_code == 0
    strange = bb("run", "news.jsonl", "--label", "right", "--resume", "n.bb")
    assert strange.exit_code == 1
    assert "column 'tags' is text, which the saved model has not been told of" in strange.stderr
    assert "--ignore 'tags'" in strange.stderr


def test_resuming_by_names_is_what_the_model_would_decide(bb, home):
    """A model whose labels came in another order is told rows by names, and words by number."""
    rows = rows_of(120)
    frame = pd.DataFrame(rows)
    (home / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = datasets.read("a.jsonl", "right")
    model = GapBoost(tuple(reversed(table.labels)), schema=table.schema(), seed=4)
    model.save("m.bb")
    played = bb("run", "a.jsonl", "--label", "right", "--resume", "m.bb", "--json")
    expected = play(model, frame.drop(columns="right"), frame["right"])
    assert json.loads(played.stdout)["accuracy"] == expected.accuracy
    assert np.isfinite(expected.accuracy)


def test_built_in_sets_have_no_words(bb):
    told = bb("run", "car", "--words", "doors")
    assert told.exit_code == 2
    assert "--words is for files" in told.stderr
