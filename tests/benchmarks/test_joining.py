"""What joining costs: the streams, the report and the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import joining, records

LINES: list[dict[str, Any]] = [
    {"part": "values", "model": "GapBoost", "what": 1_000, "microseconds": 40.0},
    {"part": "columns", "model": "AdaBandit", "what": joining.ROWS[0], "microseconds": 400.0},
    {"part": "ids", "model": "GapBoost", "what": joining.FORMS[0], "speed": 0.95, "accuracy": -0.001},
]


def test_every_row_of_a_widening_stream_brings_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "N_COLUMNS", 20)
    for rows, last in zip(joining.ROWS, (21, 2), strict=True):
        stream = joining.widening_rows(rows)
        seen = [len({name for row in stream[: t + 1] for name in row}) for t in range(20)]
        assert (seen, len(stream[-1])) == (list(range(2, 22)), last)


def test_the_cost_of_a_value_is_what_decide_takes_beyond_its_median(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"city": name} for name in "aabba"]
    monkeypatch.setattr(joining, "named_rows", lambda _: rows)
    monkeypatch.setattr(joining, "seconds_of_decide", lambda *_: [1e-5, 2e-6, 2e-6, 1e-6, 2e-6])
    assert joining.cost_of_values("GapBoost", 2, 1) == pytest.approx(3.5)


def test_report_and_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "measure", lambda *_: iter(LINES))
    monkeypatch.setattr(joining.machine, "pin", lambda _: None)
    joining.main(["--record", str(tmp_path / "joining.jsonl")])
    kept = records.read(tmp_path / "joining.jsonl")
    assert [line["what"] for line in kept] == [line["what"] for line in LINES]
    told = joining.report(kept)
    assert "a new value, of 1,000" in told
    assert "speed 95 %, accuracy -0.0010" in told
