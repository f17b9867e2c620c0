"""Bags of words in all their forms, where they come from, and who plays them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost.datasets import Stream
from benchmarks import wide
from benchmarks.peers import bags, contextual, known, ours, plan, streams, topics, vowpal, words
from benchmarks.peers.summary import Summary

pytest.importorskip("scipy")
needs_compiler = pytest.mark.skipif(config.DISABLE_JIT, reason="what is measured is compiled")
SMALL = topics.Language(40, 3, telling=5, share=0.5)


def small() -> bags.Bags:
    return bags.of_lists("s", [["a", "b", "a"], ["c"], []], ["yes", "no", "yes"], ["A b, a!", "c", "?"])


# Forms


def test_a_bag_comes_in_every_form() -> None:
    found = small()
    assert found.matrix.toarray().tolist() == found.dense().tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert found.dicts() == [{"a": 1, "b": 1}, {"c": 1}, {}]
    assert found.lists() == [["a", "b"], ["c"], []]
    assert found.texts() == ["A b, a!", "c", "?"]
    assert bags.Bags("s", found.words, found.matrix, found.y, found.labels).texts() == ["a b", "c", ""]
    assert (found.labels, found.y.tolist(), found.counted) == (("no", "yes"), [1, 0, 1], False)


def test_rows_are_taken_in_an_order_with_all_that_belongs_to_them() -> None:
    found = small().taken(np.array([1, 0]))
    assert (found.rounds, found.texts(), found.lists(), found.y.tolist()) == (
        2,
        ["c", "A b, a!"],
        [["c"], ["a", "b"]],
        [0, 1],
    )
    rows = streams.Rounds(small(), np.array([1, 1, 1]))
    cut = plan.cut(rows, 2)
    assert (cut.stream.rounds, cut.best.tolist() if cut.best is not None else None) == (2, [1, 1])


def test_a_seed_gives_one_order() -> None:
    many = bags.of_lists("s", [[f"w{i}"] for i in range(50)], ["x", "y"] * 25)
    assert many.shuffled(4).lists() == many.shuffled(4).lists() != many.shuffled(5).lists()


def test_rows_in_vowpal_wabbits_format() -> None:
    assert list(vowpal.lines(small())) == ["2 |f w0 w1\n", "1 |f w2\n", "2 |f \n"]
    numbers = small()
    numbers.matrix.data[0] = 2.5
    assert (
        next(iter(vowpal.lines(bags.Bags("s", numbers.words, numbers.matrix, numbers.y, numbers.labels))))
        == "2 |f w0:2.5 w1:1\n"
    )


def test_zeros_are_not_written_for_vowpal_wabbit() -> None:
    X = np.array([[0.0, 0.0], [2.0, 1.0]])
    stream = Stream(
        "s",
        ("a", "b"),
        ("numeric", "nominal"),
        (None, ("x", "y")),
        X,
        np.array([0, 1]),
        ("p", "q"),
        np.arange(2),
    )
    assert list(vowpal.lines(stream)) == ["1 |f c1_0\n", "2 |f c0:2 c1_1\n"]


def test_the_table_of_weights_grows_with_words_and_labels() -> None:
    assert [vowpal.bits(n, False) for n in (0, 1_000 * 5, 10_000 * 20, 1_000_000 * 20)] == [18, 18, 20, 24]
    assert (vowpal.bits(0, True), vowpal.bits(5_000, True)) == (20, 22)


# Settings


def test_bags_are_never_standardised() -> None:
    for name in ("tweets", "million"):
        for player in (*vowpal.players(), *contextual.players()):
            first = player.settings(name)
            tried = [*first, *(other for best in first for other in player.neighbours(best))]
            assert not any(setting.get("standardised") or setting.get("named") for setting in tried)
            assert all(setting.get("policy") != "LinUCB" for setting in tried)


def test_contextualbandits_tries_raw_columns_everywhere() -> None:
    (player,) = contextual.players()
    tried = player.neighbours(player.settings("car")[0])
    assert [(s.get("batch"), s.get("standardised", True)) for s in tried] == [
        (5, True),
        (None, False),
        (5, False),
    ]


def test_vowpal_wabbit_begins_raw_with_hundreds_of_columns() -> None:
    for player in vowpal.players():
        first = player.settings("mnist")
        assert {setting["standardised"] for setting in first} == {False}
        assert any(setting["standardised"] for setting in player.neighbours(first[0]))
        assert {setting["standardised"] for setting in player.settings("car")} == {True}


def test_raw_columns_are_as_they_are() -> None:
    stream, _ = known.preferences(3)
    assert np.array_equal(contextual.rows(stream, False), stream.X)
    assert abs(contextual.rows(stream, True).mean()) < 1e-9
    assert contextual.rows(small(), False).tolist() == small().dense().tolist()


def test_wide_rows_are_not_for_everybody() -> None:
    wide_entry = streams.entries()["topics"]
    able = {player.name for player in plan.all_players() if plan.meets(player, wide_entry)}
    assert able == {"GapBoost", "contextualbandits", *(f"VW {name}" for name in vowpal.EXPLORERS)}
    assert all(plan.meets(player, streams.entries()["car"]) for player in plan.all_players())


def test_streams_that_rules_were_looked_at_on_are_not_called_fresh() -> None:
    found = [entry for entry in streams.entries().values() if entry.group == streams.WIDE]
    assert len(found) == 15
    assert {entry.used for entry in found} == {streams.SEEN}


@pytest.mark.parametrize("name", [*topics.TOPICS, *words.WORDS])
def test_streams_are_what_the_page_says(name: str) -> None:
    entry = streams.entries()[name]
    if (reason := streams.unavailable(entry)) is not None:
        pytest.skip(reason)
    stream = entry.draw(4).stream
    assert isinstance(stream, bags.Bags)
    assert re.search(rf"\b{len(stream.words):,} (words|columns|bits)", entry.about)
    assert entry.about.split(", a tenth")[0].endswith(f"{len(stream.labels)} labels")


# Where rows come from


def test_words_are_split_and_rare_labels_left_out() -> None:
    found = words.of_texts("s", ["One TWO", "two!", "...", "three"], ["x", "x", "x", "y"], fewest=2)
    assert (found.lists(), found.labels) == ([["one", "two"], ["two"]], ("x",))


def test_debian_files_are_found_by_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(words.DEBIAN, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="install weka and fortunes"):
        words.fortunes()
    assert "install weka" in (streams.unavailable(streams.entries()["reuters"]) or "")
    folder = tmp_path / "usr/share/games/fortunes"
    folder.mkdir(parents=True)
    (folder / "food").write_text("\n%\n".join(f"eat {i}" for i in range(15)) + "\n%\n")
    (folder / "food.dat").write_bytes(b"\x00")
    assert words.fortunes().labels == ("food",)


def test_news_of_two_files_have_one_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(words.DEBIAN, str(tmp_path))
    monkeypatch.setattr(words, "FEWEST", 1)
    folder = tmp_path / "usr/share/doc/weka/examples"
    folder.mkdir(parents=True)
    for what, bits in (("Corn", "100"), ("Grain", "110")):
        for part in ("train", "test"):
            rows = [f"'it\\'s {part} {i}\\nend',{bit}" for i, bit in enumerate(bits)] * 8
            (folder / f"Reuters{what}-{part}.arff").write_text("@data\n\n" + "\n".join(rows) + "\n")
    found = words.reuters()
    assert found.labels == ("corn", "grain", "other")
    assert found.texts()[0] == "it's train 0\nend"
    assert np.bincount(found.y).tolist() == [16, 16, 16]


def test_topics_have_about_fifty_words_and_the_best_policy_is_better_than_another() -> None:
    found, best = topics.TOPICS["topics"](4)
    assert 45 < found.matrix.nnz / found.rounds < 55
    assert (len(found.words), len(found.labels)) == (1_000, 5)
    assert (best == found.y).mean() > 0.9
    again, _ = topics.TOPICS["topics"](4)
    assert (found.matrix != again.matrix).nnz == 0


def test_few_words_tell_among_noise() -> None:
    chances = np.array(SMALL.topics())
    assert np.allclose(chances.sum(1), 1.0)
    assert [(chance > 1.5 * SMALL.frequencies).sum() for chance in chances] == [5, 5, 5]


def test_frequencies_follow_the_rank() -> None:
    frequencies = topics.Language(1_000, 5).frequencies
    assert np.all(np.diff(frequencies) < 0)
    assert frequencies[90] == pytest.approx(frequencies[0] / 10)


# Who plays


@needs_compiler
def test_ours_takes_bags_in_a_form_that_play_knows() -> None:
    found, _ = topics.topics("small", SMALL, 4)
    game = ours.Ours(found.taken(np.arange(80)), {"learner": "GapBoost"}, 4)
    game.play(5.0)
    assert len(game.shown()) == 80


@pytest.mark.skipif(importlib.util.find_spec("vowpalwabbit") is None, reason="vowpalwabbit is not installed")
@pytest.mark.parametrize("quadratic", [False, True])
def test_vowpal_wabbit_takes_bags(quadratic: bool) -> None:
    found, _ = topics.topics("small", SMALL, 4)
    settings = {"explorer": "--epsilon 0.05", "step": 0.5, "quadratic": quadratic}
    game = vowpal.VowpalWabbit(found.taken(np.arange(600)), settings, 4)
    game.play(5.0)
    assert (game.shown() == found.y[:600]).mean() > 0.45


@pytest.mark.skipif(
    importlib.util.find_spec("contextualbandits") is None, reason="contextualbandits is not installed"
)
def test_contextualbandits_takes_a_sparse_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contextual, "MOST_COLUMNS", 10)
    found, _ = topics.topics("small", SMALL, 4)
    game = contextual.ContextualBandits(found.taken(np.arange(60)), {"policy": "EpsilonGreedy"}, 4)
    game.play(5.0)
    assert len(game.shown()) == 60


# Speed


def _summary(accuracy: float, explorer: str, quadratic: bool) -> Summary:
    parameters = {"explorer": explorer, "quadratic": quadratic}
    run = {"rounds": 10, "stream_rounds": 10, "accuracy": accuracy, "task": {"parameters": parameters}}
    return Summary([run])


def test_the_most_accurate_settings_are_timed() -> None:
    players = {
        "VW regcb": _summary(0.5, "r", False),
        "VW squarecb": _summary(0.4, "s", False),
        "VW bag": _summary(0.6, "b", True),
        "contextualbandits": _summary(0.9, "c", False),
    }
    found = wide.settings_of(players)
    assert {how: name for how, (name, _) in found.items()} == {
        wide.ACCURATE: "VW bag",
        wide.PLAIN: "VW regcb",
    }
    assert found[wide.PLAIN][1]["explorer"] == "r"
    assert list(wide.settings_of({"VW bag": players["VW bag"]})) == [wide.ACCURATE]


def test_the_table_of_speeds() -> None:
    line: dict[str, Any] = {
        "stream": "million",
        "columns": 1_000_000,
        "present": 49.6,
        "labels": 20,
        "settings": {
            wide.ACCURATE: {"player": "VW regcb", "quadratic": True},
            wide.PLAIN: {"player": "VW bag", "quadratic": False},
        },
        "rates": {wide.ACCURATE: 12_345.0, wide.PLAIN: 60_000.0},
    }
    cells = ["million", "1,000,000", "50"]
    assert _cells(wide.table([line])) == [*cells, "-", "12,300", "-", "60,000", "-"]
    filled = wide.table([{**line, "rates": {**line["rates"], "GapBoost": 6_172.5}}])
    assert _cells(filled) == [*cells, "6,170", "12,300", "0.50", "60,000", "0.10"]


def _cells(table: str) -> list[str]:
    return [cell.strip() for cell in table.splitlines()[-1].split("|")[1:-1]]
