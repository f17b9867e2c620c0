"""The program itself, in processes of their own: what it loads, what it prints where, and a real Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

MAIN = "from banditboost.cli import main; main()"
HEAVY = {"numba", "matplotlib", "joblib", "pandas", "polars", "pyarrow"}


def process(*words, code=MAIN, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def test_help_loads_nothing_heavy():
    loaded = "{name.split('.')[0] for name in sys.modules}"
    code = f"import atexit, sys; atexit.register(lambda: print(*{loaded}, file=sys.stderr)); {MAIN}"
    for words in (["--help"], ["run", "--help"], ["reproduce", "--help"]):
        done = process(*words, code=code)
        assert done.returncode == 0
        assert "Usage: " in done.stdout
        assert HEAVY.isdisjoint(done.stderr.split()), words


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_says_what_to_install(missing):
    done = process("run", "car", code=f"import sys; sys.modules[{missing!r}] = None; {MAIN}")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"error: the command line needs {missing}; install it with: pip install 'banditboost[cli]'"
    ]


def test_it_is_quiet_when_nobody_is_watching():
    done = process("run", "balance", "--rounds", "60", "--n-learners", "2")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "tenth by tenth" in done.stdout


def test_it_manages_without_unicode():
    done = process("data", "list", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "165,633" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too slow to be stopped in time")
def test_a_real_ctrl_c_on_a_terminal(tmp_path):
    words = ["run", "nursery", "--repeat", "400", "--save", "nursery.bb", "--json"]
    master, terminal = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, text=True
    )
    os.close(terminal)
    seen = watch(master, until=r"accuracy 0\.\d+")
    running.send_signal(signal.SIGINT)
    told = json.loads(running.communicate(timeout=120)[0])
    seen += watch(master)
    os.close(master)
    assert running.returncode == 130
    assert told["interrupted"]
    assert 0 < told["rounds"] < 400 * 12_960
    assert f"--resume nursery.bb --skip {told['rounds']}" in seen
    assert (tmp_path / "nursery.bb").exists()
    assert "Traceback" not in seen


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("command", ["compare", "tune"])
def test_the_columns_of_a_file_begin_on_a_line_of_their_own(tmp_path, command):
    (tmp_path / "pets.csv").write_text("weight,pet\n" + "1,cat\n2,dog\n" * 30)
    words = [
        command,
        "pets.csv",
        "--label",
        "pet",
        "--learner" + "s" * (command == "compare"),
        "Majority",
        "--seeds",
        "1",
        "--jobs",
        "1",
    ]
    master, terminal = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, text=True
    )
    os.close(terminal)
    seen = watch(master)
    running.communicate(timeout=240)
    os.close(master)
    assert running.returncode == 0, seen
    before = seen[: seen.index("weight  numeric")]
    assert re.search(r"[\r\n](\x1b\[[0-9;?]*\w)*$", before), repr(before[-80:])


def watch(terminal, until=None):
    """What appears on a terminal until it shows a pattern, or until it is closed."""
    seen, end = "", time.monotonic() + 240
    while time.monotonic() < end:
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            return seen
        if until and re.search(until, seen):
            return seen
    raise TimeoutError(seen)


def test_the_entry_point_is_declared():
    assert 'banditboost = "banditboost.cli:main"' in (Path(__file__).parents[2] / "pyproject.toml").read_text(
        encoding="utf-8"
    )


def test_ctrl_c_in_a_callback_comes_again():
    """The compiler calls back into Python where nothing can be raised: Ctrl-C must not be lost there."""
    code = (
        "import ctypes, signal, sys, time\n"
        "from banditboost import cli\n"
        "def called(): signal.raise_signal(signal.SIGINT)\n"
        "def run():\n"
        "    ctypes.CFUNCTYPE(None)(called)()\n"
        "    time.sleep(20)\n"
        "cli._run = run\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")
