"""What is kept of the paper's tables, the page that is made of it, and the causes of what is beyond 0.02."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from banditboost.experiments.agreement import cells
from banditboost.experiments.protocol import MODES, PRINTED
from benchmarks import reproduction, reproduction_page
from benchmarks.numbers import sources
from benchmarks.records import FOLDER
from tests.experiments import made_up

Records = list[dict[str, Any]]


def runs(names: tuple[str, ...] = ("table1",), seeds: range = range(4, 6)) -> Records:
    """Records of real tasks, as printed and then a little off."""
    found = {}
    for name in names:
        for task in (task for task in reproduction.planned(name) if task.seed in seeds):
            cell = PRINTED[task.source.name][task.learner]
            made = made_up.record(
                task.source.name, task.learner, task.seed, cell.total, cell.last, rounds=2000
            )
            found[task.id] = {**made, "id": task.id, "task": task.to_dict()}
    return list(found.values())


def test_what_is_kept_is_small_and_makes_the_same_tables() -> None:
    records = runs()
    packed = reproduction.pack(records)
    assert packed == reproduction.pack(records)
    kept = [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()]
    assert [record["id"] for record in kept] == [record["id"] for record in records]
    assert all("curve" not in record for record in kept)
    assert len(packed) < 100 * len(records)
    assert cells(kept) == cells(records)


def test_a_run_that_is_missing_is_named() -> None:
    with pytest.raises(SystemExit, match=r"3\d{3} of 3470 runs are missing, such as .*; play them with"):
        reproduction.complete(runs())


def shifted() -> Records:
    """Two cells beyond the tolerance in one table, one of them in the other, too."""
    records = runs()
    for record in records:
        task = record["task"]
        where = task["source"].get("variant", "ours"), task["source"]["name"], task["learner"]
        if where == ("text", "mice", "OptBandit"):
            record["last_accuracy"] -= 0.1
        if where == ("ours", "isolet", "BinBandit"):
            record["last_accuracy"] += 0.1
            record["accuracy"] += 0.05
    return records


def test_every_cell_beyond_gets_an_entry_and_known_causes_stay() -> None:
    known = {"text": {"mice": {"OptBandit": 'clipped "flat"'}}, "ours": {"car": {"AdaFull": "was beyond"}}}
    found = reproduction.updated(known, shifted())
    assert found == {
        "text": {"mice": {"OptBandit": 'clipped "flat"'}},
        "ours": {"isolet": {"BinBandit": reproduction.UNKNOWN}},
    }
    assert tomllib.loads(reproduction.toml(found)) == found


def test_the_page_lists_cells_beyond_with_their_causes() -> None:
    causes = reproduction.updated({"text": {"mice": {"OptBandit": "flat vectors"}}}, shifted())
    lines = reproduction_page.beyond_table(shifted(), causes).splitlines()
    assert lines[2:] == [
        "| text | Mice | OptBandit | 0.630 (−0.100) | - | flat vectors |",
        "| ours | Isolet | BinBandit | 0.760 (+0.100) | 0.570 (+0.050) | no cause found |",
    ]


def test_the_page_has_every_table() -> None:
    records = runs(("table1", "table4", "estimators", "learners"))
    files = reproduction_page.files(records, {})
    assert set(files) == {"tables.md", *(f"{name}.csv" for name in reproduction_page.CSV)}
    page = files["tables.md"]
    for heading in ("Table 1:", "Table 2:", "Table 4:", "The order", "Equation (3)", "The choice of N"):
        assert f"\n## {heading}" in page
    assert "| all | 60 of 60 (0 above, 0 below) | 60 of 60 (0 above, 0 below) |" in page


def test_keeping_writes_records_causes_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduction, "complete", list)
    records = runs(("table1", "table4"), range(4, 5))
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "results.jsonl").write_text(lines, encoding="utf-8")
    target = tmp_path / "kept"
    target.mkdir()
    (target / "causes.toml").write_text('[text.car]\nAdaFull = "gone"\n', encoding="utf-8")
    names = {path.name for path in reproduction.keep(tmp_path, target)}
    assert names == {"tables.jsonl.gz", "causes.toml", "figure1.png", "figure2.png", "exploration.png"}
    assert all((target / name).stat().st_size for name in names)
    assert reproduction.read_causes(target / "causes.toml") == {}


def test_every_cell_beyond_has_a_cause_and_no_other_has() -> None:
    """Of the records that are kept; what was not found says so in those words."""
    beyond = reproduction.beyond(reproduction.runs_of("table1", sources.reproduced()))
    causes = reproduction.read_causes(FOLDER / reproduction.CAUSES_NAME)
    assert set(causes) <= set(MODES)
    told = {(mode, data, name) for mode in causes for data in causes[mode] for name in causes[mode][data]}
    assert told == set(beyond)
    assert all(cause.strip() for mode in causes.values() for data in mode.values() for cause in data.values())


def test_all_runs_are_kept() -> None:
    assert len(reproduction.complete(sources.reproduced())) == len(sources.reproduced())
