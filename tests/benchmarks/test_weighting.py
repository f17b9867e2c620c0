"""What weighting by probabilities would change: rows come as often as their weights say, and the record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import records, weighting

LINES = records.read(records.path_of(weighting.NAME))


def test_rows_come_as_often_as_their_weights_say() -> None:
    rng = np.random.default_rng(1)
    p = np.array([0.5, 0.25, 0.05])
    counts = sum(np.bincount(weighting.copies(p, 4, rng), minlength=3) for _ in range(4000)) / 4000
    np.testing.assert_allclose(counts, 1.0 / (4.0 * p), atol=0.03)
    assert weighting.copies(np.full(5, 0.25), 4, rng).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("policy", list(weighting.POLICIES))
def test_policies_tell_probabilities(policy: str) -> None:
    rows = [{"a": 1.0}, {"a": 2.0}, {"b": "x"}, {}]
    shares = weighting.POLICIES[policy](rows, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.min() > 0.0


def test_it_measures_and_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighting, "_MOST_ROWS", 60)
    monkeypatch.setattr(weighting, "_JUDGED", 20)
    weighting.main(["--only", "clicks", "--seeds", "2", "--record", str(tmp_path / "weighting.jsonl")])
    kept = records.read(tmp_path / "weighting.jsonl")
    assert len(kept) == len(weighting.MODELS) * len(weighting.POLICIES)
    assert all(line["plain"] == line["weighted"] for line in kept if line["policy"] == "even")
    assert all(len(line["plain"]) == 2 for line in kept)


def test_the_record_is_whole() -> None:
    found = {(line["model"], line["stream"], line["policy"]) for line in LINES}
    wanted = {
        (m, s, p) for m, streams in weighting.STREAMS.items() for s in streams for p in weighting.POLICIES
    }
    assert found == wanted
    assert all(len(line["plain"]) == len(line["weighted"]) == weighting.SEEDS for line in LINES)
