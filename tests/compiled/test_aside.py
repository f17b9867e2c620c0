"""Kernels are compiled aside: an exception from outside neither breaks the compiler nor is kept waiting."""

from __future__ import annotations

import _thread
import gc
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from numba import config
from numba.core.compiler_lock import global_compiler_lock

import banditboost
from banditboost import play
from banditboost.compiled import aside as module
from banditboost.compiled.aside import aside
from banditboost.models.calls import Calls
from tests.models.interrupting import FromOutside

PACKAGE = Path(banditboost.__file__).parent
PATIENCE = 300.0  # seconds, until a process counts as stuck
signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
compiles = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

# Rounds of a model, each call again and again until no strike comes in between.
ROUNDS = """
import gc, random, signal, sys
kind, way, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])  # a seed of 0: no strikes
import banditboost
from banditboost import play
from banditboost.errors import DecisionError

class Strike(BaseException):
    pass

def strike(*_):
    raise Strike

signal.signal(signal.SIGALRM, strike)
luck, strikes, pause = random.Random(seed), 0, 0.02

def struck(call):
    global strikes, pause
    while seed:
        signal.setitimer(signal.ITIMER_REAL, pause * luck.uniform(0.2, 1.0))
        try:
            made = call()
            signal.setitimer(signal.ITIMER_REAL, 0)
            return made
        except Strike:
            strikes, pause = strikes + 1, pause * 1.35
            assert gc.isenabled()
    return call()

def learn(decision, correct):
    try:
        model.learn(decision, correct)
    except DecisionError:
        pass  # learned before the strike

model = (getattr(banditboost, kind, None) or getattr(banditboost.baselines, kind))(["a", "b", "c"], seed=3)
rows = [{"x": float(t * 7 % 5), "colour": "rgb"[t % 3]} for t in range(40)]
told = []
if way == "play":
    y = ["abc"[t % 3] for t in range(40)]
    struck(lambda: play(model, rows[model.rounds:], y[model.rounds:]))
else:
    for t, row in enumerate(rows):
        decision = struck(lambda: model.decide(row))
        told.append((decision.label, decision.probability))
        struck(lambda: learn(decision, t % 2 == 0))
last = model.decide(rows[0])
print(model.rounds, model.verdicts, told, last.label, last.probability)
print(strikes, file=sys.stderr)
"""
# A first call that a strike ends while it compiles, or right after that; what comes then is up to the test.
STRUCK = """
import os, signal, sys
import banditboost
model = banditboost.AdaBandit(["a", "b"], seed=1)

def first_call():
    model.decide({"x": 1.0})
    while True:
        signal.pause()

signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
"""


def run(code: str, cache: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A process of its own, which keeps its machine code in a folder of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**kept, "PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def struck_once(call: Callable[[], object]) -> None:
    """Make a call that a signal ends after a moment."""

    def strike(*_: Any) -> None:
        raise FromOutside

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(FromOutside):
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# A call aside


def test_it_returns_and_raises_what_the_function_does() -> None:
    def fail(number: int) -> None:
        raise ValueError(number)

    assert aside(lambda a, b: (a, b), 1, 2) == (1, 2)
    assert aside(_thread.get_ident) != _thread.get_ident()
    with pytest.raises(ValueError, match="7") as raised:
        aside(fail, 7)
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][-1] == "fail"


def test_the_thread_has_the_context_and_the_tracer_of_its_caller() -> None:
    name: ContextVar[str] = ContextVar("name")
    name.set("mine")
    assert aside(name.get) == "mine"
    threading.settrace(tracer := lambda *_: None)
    try:
        assert aside(sys.gettrace) is tracer
    finally:
        threading.settrace(None)  # type: ignore[arg-type]


def test_whoever_compiles_already_needs_no_other_thread() -> None:
    with global_compiler_lock:
        assert aside(_thread.get_ident) == _thread.get_ident()


@compiles
def test_a_kernel_that_is_called_while_its_module_is_imported(tmp_path: Path) -> None:
    """Numba imports the module again, which waits until it is there."""
    (tmp_path / "own.py").write_text(
        """
from banditboost.extending import kernel

@kernel
def twice(x):
    return 2 * x

print(twice(3))
"""
    )
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import own"
    for _ in range(2):
        done = run(code, tmp_path)
        assert (done.stdout, done.stderr) == ("6\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="others may find room for such a stack")
def test_without_threads_it_is_done_here() -> None:
    before = threading.stack_size(1 << 47)
    try:
        with pytest.raises(RuntimeError, match="thread"):
            _thread.start_new_thread(print, ())
        assert aside(_thread.get_ident) == _thread.get_ident()
    finally:
        threading.stack_size(before)


def test_a_time_limit_may_be_any_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A RuntimeError of a signal handler is not taken for a system without threads."""

    def start(*_: Any) -> None:
        raise RuntimeError("time is up")

    monkeypatch.setattr(_thread, "start_new_thread", start)
    with pytest.raises(RuntimeError, match="time is up"):
        aside(_thread.get_ident)


@signals
def test_an_exception_from_outside_does_not_wait_and_the_work_is_done() -> None:
    may_end, has_ended = threading.Event(), threading.Event()
    collecting: list[bool] = []

    def work() -> None:
        collecting.append(gc.isenabled())
        may_end.wait(PATIENCE)
        has_ended.set()

    assert gc.isenabled()
    struck_once(lambda: aside(work))
    assert not has_ended.is_set()
    assert gc.isenabled(), "who was interrupted goes on as it is used to"
    may_end.set()
    assert has_ended.wait(PATIENCE)
    module._wait_for_all()
    assert (collecting, gc.isenabled()) == ([False], True)


@signals
def test_who_waits_at_the_end_hears_of_it_after_that() -> None:
    may_end = threading.Event()
    struck_once(lambda: aside(may_end.wait, PATIENCE))
    threading.Timer(0.3, may_end.set).start()
    struck_once(module._wait_for_all)
    assert may_end.is_set()
    assert not module._AT_WORK


# Models


def test_a_stream_that_is_interrupted_before_its_first_round_compiles_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[int] = []

    def interrupted(_: Calls, _watched: bool) -> None:
        tried.append(1)
        raise FromOutside

    model = banditboost.baselines.Majority(["a", "b"], seed=1)
    monkeypatch.setattr(Calls, "for_play", interrupted)
    with pytest.raises(FromOutside) as raised:
        play(model, [[1.0]] * 3, ["a"] * 3)
    assert raised.value.__notes__ == ["play stopped after 0 of 3 rounds"]
    assert (len(tried), model.rounds, model._unfinished) == (1, 0, None)


@compiles
def test_the_main_thread_does_not_enter_the_compiler(tmp_path: Path) -> None:
    """Neither when it compiles, nor when it reads what is kept."""
    code = """
import sys
import banditboost
entered = set()
model = banditboost.baselines.Majority(["a", "b"], seed=1)

def note(frame, event, _):
    name = frame.f_globals.get("__name__", "")
    if name.startswith(("llvmlite", "numba.core.base", "numba.core.codegen")) or name == "numba.core.compiler":
        entered.add(f"{name}.{frame.f_code.co_name}")

sys.setprofile(note)
model.learn(model.decide({"x": 1.0}), True)
banditboost.play(model, [{"x": 1.0}] * 3, ["a"] * 3)
sys.setprofile(None)
print(sorted(entered))
"""
    for _ in range(2):
        done = run(code, tmp_path)
        assert (done.stdout, done.stderr) == ("[]\n", "")
    assert list(tmp_path.rglob("*.code"))


def rounds(kind: str, way: str, seed: int, cache: Path) -> tuple[str, int]:
    """What a model has decided, and how many strikes there were."""
    done = run(ROUNDS, cache, kind, way, seed)
    assert done.returncode == 0, done.stderr
    strikes = done.stderr.splitlines()
    assert len(strikes) == 1, done.stderr  # nothing else was said: no strike was lost
    return done.stdout, int(strikes[0])


def check_rounds(kind: str, way: str, seeds: range, folder: Path) -> None:
    undisturbed = ""
    for seed in seeds:
        told, strikes = rounds(kind, way, seed, folder / f"{seed}")
        undisturbed = undisturbed or rounds(kind, way, 0, folder / f"{seed}")[0]
        assert told == undisturbed
        assert strikes > 5


@compiles
@signals
@pytest.mark.parametrize("way", ["calls", "play"])
def test_a_model_that_is_struck_while_it_compiles(way: str, tmp_path: Path) -> None:
    check_rounds("Majority", way, range(1, 3), tmp_path)


@compiles
@signals
@pytest.mark.slow
@pytest.mark.parametrize("way", ["calls", "play"])
@pytest.mark.parametrize("kind", ["GapBoost", "AdaBandit", "AdaFull"])
def test_boosters_that_are_struck_while_they_compile(kind: str, way: str, tmp_path: Path) -> None:
    check_rounds(kind, way, range(1, 6), tmp_path)


# Processes

MOMENTS = [0.05, 0.5, *(pytest.param(0.2 * i, marks=pytest.mark.slow) for i in range(2, 30))]


@compiles
@signals
@pytest.mark.parametrize("after", MOMENTS)
def test_a_process_that_ends_while_it_compiles(after: float, tmp_path: Path) -> None:
    interrupted = run(f"{STRUCK}first_call()", tmp_path, after)
    assert interrupted.returncode == -signal.SIGINT, interrupted.stderr
    assert interrupted.stderr.splitlines()[-1] == "KeyboardInterrupt"
    code = f"""{STRUCK}
try:
    first_call()
except KeyboardInterrupt:
    print("struck")
"""
    caught = run(code, tmp_path / "another", after)
    assert (caught.returncode, caught.stdout, caught.stderr) == (0, "struck\n", "")


@compiles
@signals
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_forks_while_it_compiles(tmp_path: Path) -> None:
    code = f"""{STRUCK}
try:
    first_call()
except KeyboardInterrupt:
    child = os.fork()
decision = model.decide({{"x": 1.0}})
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = run(code, tmp_path, 0.5)
    assert (done.returncode, done.stderr) == (0, "")
