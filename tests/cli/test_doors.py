"""Files and moments that no command may answer with a traceback."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banditboost import AdaBandit
from banditboost.experiments import writing
from banditboost.experiments.errors import ExperimentError
from banditboost.io import container


def crafted(path: Path, **changes: object) -> None:
    """A file whose checksum is right, with something else in its header."""
    AdaBandit(["a", "b"], n_learners=2, seed=1).save(path)
    contents = container.read(path)
    header = {name: value for name, value in contents.header.items() if name != "arrays"}
    header["parameters"] = {**header["parameters"], **changes}
    container.write(path, header, contents.arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"weak_learner": 5},
        {"weak_learner": {}},
        {"weak_learner": {"class": {"a": 1}}},
        {"weak_learner": None},
        {"max_memory": "x"},
        {"max_memory": None},
        {"max_memory": [1]},
        {"n_learners": {"$int": "0x1" + "0" * 5000}},
        {"\x1b[2J": "\x1b[2J"},
        {"edge": {"$bytes": "1b"}},
        {"parameters": {"class": 1}},
        {"schema": 5},
        {"schema": {"x": 5}},
        {"memory": "x"},
        {"branch": [1]},
    ],
    ids=repr,
)
def test_a_crafted_header_is_shown_or_refused(bb, home, changes):
    crafted(home / "m.bb", **changes)
    for words in ([], ["--json"]):
        done = bb("model", "show", "m.bb", *words)
        assert isinstance(done.exception, SystemExit) or done.exception is None, done.exception
        assert done.exit_code in (0, 1)
        assert "\x1b" not in done.output
        if words and done.exit_code == 0:
            assert "class" in json.loads(done.stdout)


def test_labels_of_all_kinds_are_shown(bb, home):
    labels = [b"\x1b", ("a", 1), np.int64(3), 10**5000, None, "x"]
    AdaBandit(labels, n_learners=2, seed=1).save(home / "m.bb")
    assert bb("model", "show", "m.bb").exit_code == 0
    assert json.loads(bb("model", "show", "m.bb", "--json").stdout)["labels"][:3] == ["b'\\x1b'", ["a", 1], 3]


@pytest.mark.parametrize(
    "line", ['{"a":' + "[" * 100_000, '{"pet":' + "9" * 5000 + "}"], ids=["deep", "long"]
)
def test_odd_json_lines_are_one_line(bb, home, line):
    (home / "rows.jsonl").write_text(line + "\n")
    done = bb("run", "rows.jsonl", "--label", "pet")
    assert done.exit_code == 1
    assert re.fullmatch(r"error: rows.jsonl has .* in line 1: write .*\n", done.stderr)


# A full disk


def test_a_full_disk_names_the_file_and_leaves_no_empty_one(bb, home, pets, monkeypatch):
    opened = Path.open

    def full(self, mode="r", *others, **named):
        if mode != "xb":
            return opened(self, mode, *others, **named)
        self.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    words = [
        "compare",
        pets,
        "--label",
        "pet",
        "--learners",
        "Majority",
        "--seeds",
        1,
        "--jobs",
        1,
        "--out",
        "out",
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        done = bb(*words)
    assert done.exit_code == 1
    assert done.stderr.startswith(
        f"error: cannot write out{os.sep}summary.csv: No space left on device; make room"
    )
    assert [path.name for path in (home / "out").iterdir()] == ["results.jsonl"]
    assert bb(*words).exit_code == 0
    assert (home / "out" / "summary.md").read_text(encoding="utf-8").startswith("### pets")


def test_a_file_that_was_there_stays_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    writing.write_whole(path, b"before")

    def full(_self, _target):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ExperimentError, match=r"cannot write .*summary\.md: full; make room"):
        writing.write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


# Ctrl-C before a command begins

INTERRUPTED = """
import sys
from banditboost.cli import main

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["banditboost", "data", "list"]
main()
"""


@pytest.mark.parametrize(
    "module", ["rich", "typer", "banditboost.cli.app", "banditboost.cli.compare", "banditboost.datasets"]
)
def test_ctrl_c_while_modules_are_imported(module):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(module=module)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_ctrl_c_while_the_command_line_is_read():
    code = """
import typer.main
from banditboost.cli import main

def interrupted(*_):
    raise KeyboardInterrupt

typer.main.get_command = interrupted
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], check=False, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (130, "")


# What is no file


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs among its files")
@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_a_fifo_is_refused_before_the_work_begins(bb, home, pets, option):
    os.mkfifo(home / "there.png")
    done = bb("run", pets, "--label", "pet", option, "there.png")
    assert done.exit_code == 2
    assert f"{option} is " in done.stderr
    assert "this is a FIFO" in done.stderr
    assert (home / "there.png").is_fifo()
    assert done.stdout == ""
