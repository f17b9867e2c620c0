"""The speed of estimates: all parts hear all rows, and the record keeps what the issue asks for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import estimates, records

LINES = {line["part"]: line for line in records.read(records.path_of(estimates.NAME))}


def test_blocks_are_rows_of_a_log() -> None:
    found = list(estimates.blocks(estimates.BLOCK + 7))
    assert [len(block.action) for block in found] == [estimates.BLOCK, 7]
    assert np.allclose(found[1].policy.sum(axis=1), 1.0)
    assert found[1].chosen.shape == (7,)


def test_it_measures_and_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "BLOCK", 100)
    monkeypatch.setattr(estimates.machine, "pin", lambda: None)
    estimates.main(["--rows", "1000", "--record", str(tmp_path / "estimates.jsonl")])
    kept = records.read(tmp_path / "estimates.jsonl")
    assert [line["part"] for line in kept] == list(estimates.PARTS)
    assert all(line["rows"] == 1000 and line["seconds"] > 0.0 for line in kept)


def test_the_record_says_that_ten_million_rows_take_less_than_a_minute_and_no_memory() -> None:
    assert LINES["IPS"]["rows"] >= 10_000_000
    assert LINES["IPS"]["seconds"] < 60.0
    assert LINES["doubly robust"]["rows"] >= 10_000_000
    assert LINES["doubly robust"]["grown"] < 64 << 20
