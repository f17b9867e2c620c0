"""Where machine code is kept: in the user's cache by generation, in read-only places, or not at all."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
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
LISTEN = """
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
"""
COUNT = """
print(len(compiled.buffer))
"""
WHERE = """
from banditboost.compiled import store
print(store.cache_directory())
"""
# A model without trees, by hand: little to compile.
ROUND = """
import banditboost
model = banditboost.baselines.Majority([0, 1], seed=3)
model.learn(model.decide([1.0]), correct=True)
"""
PLAY = (
    ROUND
    + """
print(banditboost.play(model, [[0.0], [1.0]] * 5, [0, 1] * 5).shown.tolist())
"""
)

# Processes that compile, also where this one does not.
compiles = pytest.mark.skipif(config.DISABLE_JIT, reason="is the same in the compiled run")


def environment(cache: Path | str, package: Path = PACKAGE) -> dict[str, str]:
    """Nothing of Numba's own settings; the user's cache is `cache`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return {
        **kept,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(cache),
        "HOME": str(cache),
    }


def python(code: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "not a terminal: nothing to say"
    return done.stdout.strip()


def generations(cache: Path) -> list[Path]:
    return sorted((cache / "banditboost").glob("kernels-*"))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(
        shutil.copytree(
            PACKAGE, tmp_path / "site" / "banditboost", ignore=shutil.ignore_patterns("__pycache__")
        )
    )


def test_importing_the_package_does_not_import_numba(tmp_path: Path) -> None:
    assert python("import banditboost, sys; print('numba' in sys.modules)", environment(tmp_path)) == "False"


def draw(where: dict[str, str]) -> bool:
    """Whether a process that draws the number has to compile for it."""
    number, count = python(LISTEN + DRAW + COUNT, where).splitlines()
    assert number == NUMBER
    return int(count) > 0


@compiles
def test_the_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    assert draw(environment(tmp_path))
    (generation,) = generations(tmp_path)
    assert len(list(generation.iterdir())) == 1, "one file for each entry"
    assert not draw(environment(tmp_path))


@compiles
def test_what_one_process_has_played_another_one_need_not_compile(tmp_path: Path) -> None:
    shown, compiled = python(LISTEN + PLAY + COUNT, environment(tmp_path)).splitlines()
    assert int(compiled) > 0
    assert python(LISTEN + PLAY + COUNT, environment(tmp_path)).splitlines() == [shown, "0"]
    assert python(LISTEN + ROUND + COUNT, environment(tmp_path)) == "0"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda code: code[: len(code) // 2],
    "empty": lambda code: b"",  # noqa: ARG005 (nothing is left of it)
    "another byte at its end": lambda code: code[:-1] + bytes([code[-1] ^ 1]),
    "another byte at its beginning": lambda code: bytes([code[0] ^ 1]) + code[1:],
    "longer": lambda code: code + b"more",
}


@compiles
def test_damaged_machine_code_is_compiled_again(tmp_path: Path) -> None:
    where = environment(tmp_path)
    assert draw(where)
    (path,) = generations(tmp_path)[0].iterdir()
    sound = path.read_bytes()
    for name, damage in DAMAGES.items():
        path.write_bytes(damage(sound))
        assert draw(where), name
    assert not draw(where), "what was compiled again is kept"


@compiles
def test_a_cache_that_vanishes_is_no_obstacle(tmp_path: Path) -> None:
    vanish = "import shutil\nshutil.rmtree(store.cache_directory())\n"
    where, directory = python(LISTEN + WHERE + vanish + DRAW + WHERE, environment(tmp_path)).splitlines()[::2]
    assert where == directory
    assert generations(tmp_path) == []
    assert draw(environment(tmp_path)), "nothing was kept"


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
        assert len(list(generations(cache)[0].iterdir())) == 1
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


# A folder that can be read and not written to. Root may write anywhere: here it is only told that it may not.
READ_ONLY = """
import os
os.access = lambda path, mode, access=os.access: mode & os.W_OK == 0 and access(path, mode)
"""


@compiles
def test_what_a_read_only_cache_has_is_loaded(tmp_path: Path) -> None:
    where = environment(tmp_path)
    assert draw(where)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    loaded = python(LISTEN + READ_ONLY + DRAW + COUNT + WHERE, where).splitlines()
    assert loaded == [NUMBER, "0", "None"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == kept


@compiles
def test_that_nothing_can_be_kept_is_said_with_a_remedy(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    (said,) = on_terminal(pty, READ_ONLY + DRAW, environment(tmp_path))
    (generation,) = generations(tmp_path)
    assert f"in every process, because {generation} cannot be written to" in said
    assert "(set NUMBA_CACHE_DIR to a folder that can be): about ten seconds" in said
    assert list(generation.iterdir()) == []


@compiles
def test_why_machine_code_is_not_used_is_said(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    assert draw(environment(tmp_path))
    (path,) = generations(tmp_path)[0].iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    (said,) = on_terminal(pty, DRAW, environment(tmp_path))
    assert said.startswith(f"banditboost: {path} is damaged; compiling kernels, once for this machine")


@compiles
def test_a_user_without_a_home_can_use_it() -> None:
    """As in containers whose user number has no name."""
    homeless = {
        name: value for name, value in environment("").items() if name not in ("HOME", "XDG_CACHE_HOME")
    }
    nobody = "import pwd\ndef unknown(number): raise KeyError(number)\npwd.getpwuid = unknown\n"
    assert python(nobody + DRAW + WHERE, homeless).splitlines() == [NUMBER, "None"]


@compiles
def test_processes_that_start_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    where = environment(tmp_path)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [
        subprocess.Popen([sys.executable, "-c", DRAW], env=where, text=True, **pipes) for _ in range(3)
    ]
    assert [process.communicate() for process in started] == [(f"{NUMBER}\n", "")] * 3
    assert [process.returncode for process in started] == [0] * 3
    assert not draw(where)


def test_old_generations_are_forgotten(tmp_path: Path) -> None:
    base = tmp_path / "banditboost"
    for age in range(1, 8):
        old = base / f"kernels-{age}"
        old.mkdir(parents=True)
        (old / "kernel.code").write_text("machine code")
        os.utime(old, (10**9 - age, 10**9 - age))
    (base / "datasets").mkdir()
    ours = python(WHERE, environment(tmp_path))
    assert {path.name for path in generations(tmp_path)} == {
        Path(ours).name,
        "kernels-1",
        "kernels-2",
        "kernels-3",
    }
    assert (base / "datasets").exists()


# What kernels are made of: their own files, and those of the constants that they read.


def names_in_kernels(tree: ast.Module, decorators: set[str]) -> set[str]:
    """The names that a file's kernels use; those made for each model are functions within functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    within = [
        inner
        for outer in functions
        for inner in ast.walk(outer)
        if isinstance(inner, ast.FunctionDef) and inner is not outer
    ]
    marked = [node for node in functions if {ast.unparse(mark) for mark in node.decorator_list} & decorators]
    return {
        node.id
        for function in (*marked, *within)
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
    }


def files_of_kernels() -> set[str]:
    """Every file of the package that has kernels, or that they take a name from."""
    files = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
        origin = {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}
        decorators = {name for name, module in origin.items() if module == "banditboost.compiled.compile"}
        if decorators:
            files.add(path.relative_to(PACKAGE).as_posix())
            modules = {origin[name] for name in names_in_kernels(tree, decorators) & origin.keys()}
            files |= {
                f"{'/'.join(module.split('.')[1:])}.py"
                for module in modules
                if module.startswith("banditboost.")
            }
    return files


def test_the_files_of_kernels_are_found() -> None:
    known = {
        "boosting/round.py",
        "inspection/tally.py",
        "memo.py",
        "trees/layout.py",
        "rows/features.py",
        "models/calls.py",
    }
    assert known <= files_of_kernels()


def test_every_edit_of_a_kernel_begins_a_generation(copied: Path, tmp_path: Path) -> None:
    """Numba itself would not notice that a callee in another file has changed."""
    where = environment(tmp_path / "cache", copied)
    edit = f"""
from pathlib import Path
from banditboost.compiled import store
unnoticed, before = [], store.source_digest()
for name in {sorted(files_of_kernels())}:
    with open(Path({str(copied)!r}, name), "a") as file:
        file.write("# edited\\n")
    store.source_digest.cache_clear()
    after = store.source_digest()
    unnoticed += [name] if after == before else []
    before = after
print(unnoticed)
"""
    first = python(WHERE, where)
    assert python(WHERE, where) == first
    assert python(edit, where) == "[]"
    assert python(WHERE, where) != first


@compiles
def test_an_edited_kernel_of_ones_own_is_compiled_again(tmp_path: Path) -> None:
    where = environment(tmp_path / "cache")
    where["PYTHONPATH"] += os.pathsep + str(tmp_path)
    for factor in (2, 3):
        body = f"@kernel\ndef times(x: float) -> float:\n    return {factor} * x\n"
        (tmp_path / "own.py").write_text(f"from banditboost.extending import kernel\n\n\n{body}")
        assert python("import own; print(own.times(1.5))", where) == str(factor * 1.5)


@compiles
@pytest.mark.parametrize("edited", ["kernel", "constant"])
def test_what_a_kernel_of_ones_own_reads_elsewhere_is_compiled_again(tmp_path: Path, edited: str) -> None:
    """A kernel of another module, called as `module.kernel`, and a constant that was imported."""
    where = environment(tmp_path / "cache")
    where["PYTHONPATH"] += os.pathsep + str(tmp_path)
    head = "from banditboost.extending import kernel\n"
    (tmp_path / "own.py").write_text(
        f"{head}import below\nfrom numbers_ import FACTOR\n\n\n"
        "@kernel\ndef times(x: float) -> float:\n    return FACTOR * below.half(x)\n"
    )
    for value in (2, 3):
        share, factor = (value, 1) if edited == "kernel" else (1, value)
        body = f"@kernel\ndef half(x: float) -> float:\n    return {share} * x / 2\n"
        (tmp_path / "below.py").write_text(f"{head}\n\n{body}")
        (tmp_path / "numbers_.py").write_text(f"FACTOR = {factor}\n")
        assert python("import own; print(own.times(3.0))", where) == str(1.5 * value)


@compiles
@pytest.mark.parametrize("edited", ["kernel", "constant", "array"])
def test_what_a_kernel_reads_in_a_part_of_a_package_is_compiled_again(tmp_path: Path, edited: str) -> None:
    """`package.part.kernel` and `package.part.RATE`, and the middle of an array, which its repr leaves out."""
    where = environment(tmp_path / "cache")
    where["PYTHONPATH"] += os.pathsep + str(tmp_path)
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "__init__.py").write_text("")
    head = "from banditboost.extending import kernel\n"
    body = "    return whole.part.weigh(x) * whole.part.RATE * whole.part.TABLE[1000]\n"
    (tmp_path / "own.py").write_text(
        f"{head}import whole.part\n\n\n@kernel\ndef times(x: float) -> float:\n{body}"
    )
    for value in (2, 3):
        share, rate, entry = (value if edited == name else 1 for name in ("kernel", "constant", "array"))
        (tmp_path / "whole" / "part.py").write_text(
            f"{head}import numpy as np\n\nRATE = {rate}\nTABLE = np.zeros(2000)\nTABLE[1000] = {entry}\n\n\n"
            f"@kernel\ndef weigh(x: float) -> float:\n    return {share} * x\n"
        )
        assert python("import own; print(own.times(1.5))", where) == str(1.5 * value)


@compiles
def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    said = on_terminal(pty, DRAW + "rng.uniforms_at(1, 0, 5, 2)\n", environment(tmp_path))
    assert len(said) == 1
    assert said[0].startswith("banditboost: compiling kernels, once for this machine and version")
    assert on_terminal(pty, DRAW, environment(tmp_path)) == [], "loaded from the cache"


@compiles
def test_workers_do_not_say_it_too(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    assert on_terminal(pty, IN_WORKERS, environment(tmp_path)) == []


def on_terminal(pty: object, code: str, environment: dict[str, str]) -> list[str]:
    """What a process writes to a terminal as its standard error."""
    ours, theirs = pty.openpty()  # type: ignore[attr-defined]
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
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
