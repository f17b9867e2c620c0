"""Where machine code is kept: in the user's cache, by generation; in read-only places, for two at once, or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

import banditboost
from tests.naive import rng as naive

PACKAGE = Path(banditboost.__file__).parent
NUMBER = f"{naive.uniform(7, 1, 2, 3):.4f}"  # what DRAW prints
DRAW = """
from banditboost.compiled import rng
print(f"{rng.uniform_at(7, 1, 2, 3):.4f}")
"""
IN_WORKERS = """
from joblib import Parallel, delayed

def draw():
    from banditboost.compiled import rng
    return rng.uniform_at(7, 1, 2, 3)

print(f"{Parallel(2)(delayed(draw)() for _ in range(2))[0]:.4f}")
"""
COUNT = """
stats = rng.uniform_at.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
WHERE = """
from banditboost.compiled import compile
print(compile.cache_directory())
"""

# Processes that compile, also where this one does not.
compiles = pytest.mark.skipif(config.DISABLE_JIT, reason="is the same in the compiled run")


def environment(cache: Path | str, package: Path = PACKAGE) -> dict[str, str]:
    """Nothing of Numba's own settings; the user's cache is `cache`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(cache), "HOME": str(cache)}


def python(code: str, environment: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "not a terminal: nothing to say"
    return done.stdout.strip()


def generations(cache: Path) -> list[Path]:
    return sorted((cache / "banditboost").glob("kernels-*"))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKAGE, tmp_path / "site" / "banditboost", ignore=shutil.ignore_patterns("__pycache__")))


def test_importing_the_package_does_not_import_numba(tmp_path: Path) -> None:
    assert python("import banditboost, sys; print('numba' in sys.modules)", environment(tmp_path)) == "False"


@compiles
def test_the_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    assert python(DRAW + COUNT, environment(tmp_path)).splitlines() == [NUMBER, "0 1"]
    assert len(generations(tmp_path)) == 1
    assert list(generations(tmp_path)[0].rglob("*.nbi"))
    assert python(DRAW + COUNT, environment(tmp_path)).splitlines() == [NUMBER, "1 0"]


def test_numbas_own_setting_comes_first(tmp_path: Path) -> None:
    chosen = {**environment(tmp_path / "user"), "NUMBA_CACHE_DIR": str(tmp_path / "chosen")}
    assert python(WHERE, chosen).startswith(str(tmp_path / "chosen" / "kernels-"))
    assert not (tmp_path / "user").exists()


@compiles
def test_a_package_in_a_read_only_place_is_left_alone(copied: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in copied.rglob("*")}
    for path in [copied, *before]:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        cache = tmp_path / "cache"
        assert python(DRAW, environment(cache, copied)) == NUMBER
        assert list(cache.rglob("*.nbc"))
        assert {path: path.stat().st_mtime_ns for path in copied.rglob("*")} == before
    finally:
        for path in [copied, *before]:
            path.chmod(path.stat().st_mode | 0o200)


@compiles
@pytest.mark.parametrize("unwritable", ["/proc/nobody", "a file", "a file/below"])
def test_without_a_writable_cache_nothing_is_kept(unwritable: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way")
    where = environment(unwritable if unwritable.startswith("/") else tmp_path / unwritable)
    assert python(DRAW + WHERE, where).splitlines() == [NUMBER, "None"]
    assert [path.name for path in tmp_path.rglob("*")] == ["a file"]


@compiles
def test_a_user_without_a_home_can_use_it() -> None:
    """As in containers whose user number has no name."""
    homeless = {name: value for name, value in environment("").items() if name not in ("HOME", "XDG_CACHE_HOME")}
    nobody = "import pwd\ndef unknown(number): raise KeyError(number)\npwd.getpwuid = unknown\n"
    assert python(nobody + DRAW + WHERE, homeless).splitlines() == [NUMBER, "None"]


@compiles
def test_processes_that_start_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    where = environment(tmp_path)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen([sys.executable, "-c", DRAW], env=where, text=True, **pipes) for _ in range(3)]
    assert [process.communicate() for process in started] == [(f"{NUMBER}\n", "")] * 3
    assert [process.returncode for process in started] == [0] * 3
    assert python(DRAW + COUNT, where).splitlines() == [NUMBER, "1 0"]


def test_old_generations_are_forgotten(tmp_path: Path) -> None:
    base = tmp_path / "banditboost"
    for age in range(1, 8):
        old = base / f"kernels-{age}"
        old.mkdir(parents=True)
        (old / "code.nbc").write_text("machine code")
        os.utime(old, (10**9 - age, 10**9 - age))
    (base / "datasets").mkdir()
    ours = python(WHERE, environment(tmp_path))
    assert {path.name for path in generations(tmp_path)} == {Path(ours).name, "kernels-1", "kernels-2", "kernels-3"}
    assert (base / "datasets").exists()


def test_every_edit_of_a_kernel_begins_a_generation(copied: Path, tmp_path: Path) -> None:
    """Numba itself would not notice that a callee in another file has changed."""
    where = environment(tmp_path / "cache", copied)
    first = python(WHERE, where)
    assert python(WHERE, where) == first
    seen = {first}
    for name in ["kernels/layout.py", "boosting/estimate.py"]:
        path = copied / name
        path.write_text(path.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
        seen.add(python(WHERE, where))
    assert len(seen) == 3


def test_kernels_live_where_the_generation_looks_for_them() -> None:
    compiling = [path for path in PACKAGE.rglob("*.py") if "from banditboost.compiled.compile import" in path.read_text(encoding="utf-8")]
    using = {path.relative_to(PACKAGE).parts[0] for path in compiling}
    assert using == {"kernels", "boosting", "baselines"}


@compiles
def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    said = on_terminal(pty, DRAW + "rng.uniforms_at(1, 0, 5, 2)\n", environment(tmp_path))
    assert said == ["banditboost: compiling kernels, once for this machine and version ..."]
    assert on_terminal(pty, DRAW, environment(tmp_path)) == [], "loaded from the cache"


@compiles
def test_workers_do_not_say_it_too(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    assert on_terminal(pty, IN_WORKERS, environment(tmp_path)) == []


def on_terminal(pty: object, code: str, environment: dict[str, str]) -> list[str]:
    """What a process writes to a terminal as its standard error."""
    ours, theirs = pty.openpty()  # type: ignore[attr-defined]
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        assert process.communicate()[0].strip() == NUMBER
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    return said.decode().splitlines()
