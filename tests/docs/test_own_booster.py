"""The booster of docs/guide-booster.md, in a module: it runs compiled, and keeps every rule of boosters."""

from __future__ import annotations

import doctest
import importlib.util
import pickle
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost import checks, datasets, extending, play
from tests.docs.pages import DOCS

PAGE = (DOCS / "guide-booster.md").read_text(encoding="utf-8")
MODULE = "mybag"
OF_A_ROUND = ("decide", "learn", "choose", "teach")
ROUNDS = 300 if config.DISABLE_JIT else 2500
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="is about machine code")
_PARSER = doctest.DocTestParser()


def source() -> str:
    """The module that a reader of the page would write."""
    return "".join(example.source for example in _PARSER.get_examples(PAGE.split("That is all.")[0]))


def written(folder: Path, text: str) -> types.ModuleType:
    """The text as a module in a file, imported."""
    path = folder / f"{MODULE}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # where pickle looks for its classes
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def mybag(tmp_path: Path) -> Iterator[Any]:
    before = sys.modules.get(MODULE)
    yield written(tmp_path, source())
    del sys.modules[MODULE]
    if before is not None:
        sys.modules[MODULE] = before


def stream(rounds: int = ROUNDS) -> Any:
    return datasets.load("balance").stream(repeat=4, seed=4, rounds=rounds)


def bag(module: Any, **parameters: Any) -> Any:
    return module.Bagging(stream(10).labels, schema=stream(10).schema(), seed=4, **parameters)


def python_calls(work: Callable[[], object]) -> list[tuple[str, str]]:
    """File and name of every Python function that is entered meanwhile."""
    entered: list[tuple[str, str]] = []

    def note(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.append((frame.f_code.co_filename, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return entered


class Frequent:
    """A weak learner in Python."""

    def __init__(self) -> None:
        self.weights: dict[int, float] = {}

    def predict(self, x: Any) -> int:  # noqa: ARG002 (whatever the row)
        return max(self.weights, key=self.weights.__getitem__, default=0)

    def learn(self, x: Any, label: int, weight: float) -> None:  # noqa: ARG002 (whatever the row)
        self.weights[label] = self.weights.get(label, 0.0) + weight


@compiled_only
def test_the_page_says_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("page")  # pickle looks for the page's classes there
    monkeypatch.setitem(sys.modules, "page", module)
    examples = _PARSER.get_doctest(PAGE, {}, "guide-booster.md", None, 0)
    examples.globs = vars(module)
    told = doctest.DocTestRunner().run(examples, clear_globs=False)
    assert told.attempted > 15
    assert told.failed == 0


def test_the_page_uses_public_names_only() -> None:
    names = re.findall(r"\bbb\.(\w+)", source())
    assert len(names) > 10
    assert set(names) <= set(extending.__all__)
    assert not re.search(r"[ .]_[a-z]", source())
    assert source().count("from banditboost") == 1


@compiled_only
def test_play_never_comes_back_to_python(mybag: Any) -> None:
    rows = stream()
    play(bag(mybag), *rows)  # compiles
    model = bag(mybag)
    entered = python_calls(lambda: play(model, *rows))
    assert [name for file, name in entered if file == mybag.__file__] == ["learned"]  # when play begins
    assert not {"play_rounds", *OF_A_ROUND} & {name for _, name in entered}
    assert model.rounds == ROUNDS


@compiled_only
@pytest.mark.usefixtures("mybag")
def test_such_calls_would_be_seen(tmp_path: Path) -> None:
    other = written(
        tmp_path,
        source()
        .replace("weak_learner=None", "weak_learner=weak_learner")
        .replace("schema=None,", "schema=None, weak_learner=None,"),
    )
    model = bag(other, weak_learner=Frequent)
    entered = {name for _, name in python_calls(lambda: play(model, *stream(200)))}
    assert {"play_rounds", "predict"} <= entered


def test_decisions_by_hand_are_those_of_play(mybag: Any) -> None:
    rows, played, asked = stream(), bag(mybag), bag(mybag)
    result = play(played, *rows)
    for x, right, shown, greedy in zip(rows.X, rows.y, result.shown, result.greedy, strict=True):
        decision = asked.decide(x)
        assert (decision.label, decision.greedy) == (rows.labels[shown], rows.labels[greedy])
        asked.learn(decision, correct=decision.label == rows.labels[right])
    assert np.array_equal(played.trust, asked.trust)
    assert asked.trust.min() != asked.trust.max()
    later = [model.decide(rows.X[0]).to_dict() for model in (played, asked)]
    assert later[0]["memo"] == later[1]["memo"]


@compiled_only
@pytest.mark.parametrize("check", checks.booster_checks(), ids=lambda check: check.__name__)
def test_it_keeps_every_rule(mybag: Any, check: Any) -> None:
    check(lambda: mybag.Bagging(["a", "b", "c"], seed=1))


def test_what_it_learned_is_pickled(mybag: Any) -> None:
    model = bag(mybag)
    play(model, *stream(200))
    again = pickle.loads(pickle.dumps(model))
    play(again, *stream(200))
    play(model, *stream(200))
    assert np.array_equal(again.trust, model.trust)


@compiled_only
def test_an_edited_booster_is_compiled_again(mybag: Any, tmp_path: Path) -> None:
    before = play(bag(mybag), *stream())
    edited = written(tmp_path, source().replace("sums[label] > sums[greedy]", "sums[label] < sums[greedy]"))
    after = play(bag(edited), *stream())
    assert after.last_accuracy < 0.5 < before.last_accuracy


def test_it_takes_part_in_experiments(mybag: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("joblib", reason="experiments need the extra cli")
    from banditboost.experiments.results import Results
    from banditboost.experiments.runner import run_tasks
    from banditboost.experiments.task import Source, Task

    monkeypatch.syspath_prepend(str(tmp_path))
    task = Task(Source("balance", rounds=200), mybag.Bagging, {"n_learners": 3, "exploration": 0.2}, seed=4)
    assert task.learner == "mybag:Bagging"
    results = Results(tmp_path / "results.jsonl")
    assert run_tasks([task], results, jobs=1) == 1
    assert next(iter(results.records()))["rounds"] == 200
