"""The results file: whole whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.results import Results

WRITER = """
import sys
from banditboost.experiments.results import Results
results = Results(sys.argv[1])
for number in range(int(sys.argv[3])):
    results.append({"id": f"{sys.argv[2]}-{number}", "filling": "x" * 3000})
    if number == 0:
        print("begun", flush=True)
"""


def record(identifier: str) -> dict[str, object]:
    return {"format": 1, "id": identifier, "accuracy": 0.1 + 0.2, "name": "Zürich\n"}


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    results = Results(tmp_path / "new" / "results.jsonl")
    assert results.records() == []
    assert results.finished_ids() == set()
    results.append(record("a"))
    results.append(record("b"))
    assert results.records() == [record("a"), record("b")]
    assert Results(results.path).finished_ids() == {"a", "b"}


def test_the_first_of_two_records_counts(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append(record("a"))
    results.append({**record("a"), "accuracy": 0})
    assert results.records() == [record("a")]


def test_a_torn_line_is_ignored_and_then_cut_off(tmp_path: Path) -> None:
    """Torn at every byte: before, the first record is there and the second is not; afterwards the file is
    whole.
    """
    results = Results(tmp_path / "results.jsonl")
    results.append(record("a"))
    whole = results.path.read_bytes()
    results.append(record("b"))
    both = results.path.read_bytes()
    for end in range(len(whole), len(both)):
        results.path.write_bytes(both[:end])
        assert results.finished_ids() == {"a"}
        results.append(record("c"))
        assert results.path.read_bytes() == whole + both[len(whole) :].replace(b'"b"', b'"c"')


def test_a_torn_line_longer_than_a_block(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append(record("a"))
    results.path.write_bytes(results.path.read_bytes() + b'{"format":1,"curve":[' + b"1," * 200_000)
    results.prepare()
    assert results.path.read_bytes().endswith(b"\n")
    assert results.records() == [record("a")]


@pytest.mark.parametrize("content", ["a model file", "a,b\n1,2", '{"name": 1}'])
def test_nothing_is_cut_off_a_file_of_something_else(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(content)
    with pytest.raises(ExperimentError, match="no record of a task; give another file"):
        Results(path).append(record("a"))
    assert path.read_text() == content


@pytest.mark.parametrize("line", ["a,b", "[1]", '{"id": 1}', '{"format": 1}', "3", ""])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append(record("a"))
    with results.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(
        ExperimentError, match=r"line 2 of .*results.jsonl is no record of a task; delete the line"
    ):
        results.records()


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append({**record("a"), "format": 2})
    with pytest.raises(
        ExperimentError, match=r"line 1 of .* has format 2, not 1; use the banditboost that wrote it"
    ):
        results.records()


def test_a_write_that_fails_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append(record("a"))
    before, write = results.path.read_bytes(), os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, line: write(file, line[:20]))
        with pytest.raises(ExperimentError, match=r"20 of .* bytes were written; is the disk full"):
            results.append(record("b"))
    assert results.path.read_bytes() == before


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExperimentError, match=r"cannot write to .*give a path that can be written"):
        Results(tmp_path / "file" / "results.jsonl").prepare()
    with pytest.raises(ExperimentError, match=r"cannot read .*Is a directory"):
        Results(tmp_path).records()


def test_two_processes_can_append_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    writers = [writer(path, name, 100) for name in "ab"]
    assert [process.communicate()[0] for process in writers] == ["begun\n"] * 2
    assert Results(path).finished_ids() == {f"{name}-{number}" for name in "ab" for number in range(100)}


def test_killed_while_writing(tmp_path: Path) -> None:
    """Records are written as fast as possible and the writer is killed at some moment, four times."""
    results = Results(tmp_path / "results.jsonl")
    for name in "abcd":
        process = writer(results.path, name, 10**9)
        assert process.stdout is not None
        with process:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
        numbers = [
            int(identifier.split("-")[1])
            for identifier in results.finished_ids()
            if identifier.startswith(name)
        ]
        assert sorted(numbers) == list(range(len(numbers)))
    results.append(record("last"))
    assert results.path.read_bytes().count(b"\n") == len(results.records())
