"""The same bags of words in every form: all hold the same words, and differences are told seed by seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba import config

from benchmarks import records, sameness
from benchmarks.peers import topics

pytest.importorskip("scipy")
SMALL = topics.Language(40, 3, telling=5, share=0.5)


@pytest.mark.skipif(config.DISABLE_JIT, reason="what is measured is compiled")
def test_a_record_has_a_line_for_each_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "ROUNDS", 60)
    monkeypatch.setitem(topics.TOPICS, "small", lambda seed: topics.topics("small", SMALL, seed))
    path = tmp_path / "sameness.jsonl"
    sameness.main(["small", "--seeds", "2", "--rounds", "50", "--record", str(path)])
    lines = records.read(path)
    assert [line["form"] for line in lines] == list(sameness.FORMS)
    assert {(line["rounds"], line["words"], len(line["accuracies"])) for line in lines} == {(50, 40, 2)}
    found = {line["form"]: line["accuracies"] for line in lines}
    assert found["list"] == found["text"] == found["file"]


def test_every_form_has_the_same_words() -> None:
    bags, _ = topics.topics("small", SMALL, 4)
    bags = bags.taken(np.arange(20))
    lists, _ = sameness.FORMS["list"](bags)
    words = [row[sameness.COLUMN] for row in lists]
    assert [list(row) for row in sameness.FORMS["{word: True}"](bags)[0]] == words
    assert [list(row) for row in sameness.FORMS["{word: 1}"](bags)[0]] == words
    assert [row[sameness.COLUMN].split() for row in sameness.FORMS["text"](bags)[0]] == words
    assert len(sameness.FORMS["file"](bags)[0]) == 20


def test_differences_are_those_on_the_same_seeds() -> None:
    lines = [
        {"stream": "s", "form": "list", "accuracies": [0.5, 0.6, 0.7]},
        {"stream": "s", "form": "{word: 1}", "accuracies": [0.6, 0.7, 0.8]},
    ]
    told = sameness.report(lines).splitlines()
    assert told[2].split("|")[1:4] == [" list                  ", " 0.600 ", "                "]
    assert "| `{word: 1}`" in told[3]
    assert "+0.100 ± 0.000" in told[3]
    assert sameness.furthest(lines) == pytest.approx(0.1)
