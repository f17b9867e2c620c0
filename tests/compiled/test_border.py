"""What a kernel reads by name is what Python has written down, and what it writes is written into the
arrays.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config, float64, int64

from banditboost.boosting import adaptive
from banditboost.boosting.gap.booster import GapBoost
from banditboost.compiled.border import TABLE, Address, Table, caller
from banditboost.compiled.compile import kernel
from banditboost.models.settings import COUNTS, SETTINGS
from banditboost.simulation import loop
from banditboost.trees.layout import HEAD
from tests.trees.forests import committee_of, schema_of, teach

PAIR = np.dtype((np.record, [("count", "i8"), ("share", "f8")]))


class Inner(NamedTuple):
    numbers: np.ndarray
    cube: np.ndarray


class Outer(NamedTuple):
    pair: Any
    inner: Inner
    heads: np.ndarray
    limit: int
    add: Any


@kernel
def double(state: Any) -> float:
    """Of each part the first number; returns a sum over them all."""
    state.pair.count *= 2
    state.pair.share *= 2.0
    state.inner.numbers[0] *= 2.0
    state.inner.cube[0, 1, 1] *= 2.0
    state.heads[1]["n_labels"] *= 2
    return (
        state.pair.count + state.pair.share + state.inner.numbers[0] + state.inner.cube[0, 1, 1] + state.limit
    )


@kernel
def shapes(state: Any, found: np.ndarray) -> None:
    found[0], found[1] = state.inner.numbers.size, state.heads.size
    found[2], found[3], found[4] = state.inner.cube.shape


@kernel
def add_to_first(state: Any, amount: float, times: int) -> float:
    state.inner.numbers[0] += amount * times
    return state.inner.numbers[0]


call_add = caller(float64, TABLE, float64, int64)


@kernel
def add_twice(state: Any, amount: float) -> float:
    call_add(state.add, (state, amount, 1))
    return call_add(state.add, (state, amount, 2))


def make() -> Outer:
    pair = np.zeros(1, PAIR)[0]
    pair.count, pair.share = 3, 0.25
    heads = np.zeros(2, HEAD)
    heads["n_labels"] = 4, 5
    add = add_to_first if config.DISABLE_JIT else Address(add_to_first)
    return Outer(pair, Inner(np.array([1.5, 7.0]), np.arange(12.0).reshape(2, 3, 2)), heads, 100, add)


def test_what_is_written_there_is_written_into_the_arrays() -> None:
    state = make()
    assert double(state) == 6 + 0.5 + 3.0 + 6.0 + 100
    assert (state.pair.count, state.pair.share) == (6, 0.5)
    assert state.inner.numbers.tolist() == [3.0, 7.0]
    assert state.inner.cube[0, 1, 1] == 6.0
    assert state.heads["n_labels"].tolist() == [4, 10]


def test_arrays_keep_their_shapes() -> None:
    found = np.zeros(5, np.int64)
    shapes(make(), found)
    assert found.tolist() == [2, 2, 2, 3, 2]


def test_a_kernel_calls_another_one_by_its_address() -> None:
    state = make()
    if not config.DISABLE_JIT:
        from banditboost.compiled.border import table_type

        state.add.compile((table_type(state), float64, int64))
        assert state.add.address != 0
    assert add_twice(state, 0.5) == 3.0


@kernel
def refuse_negative(state: Any, amount: float, times: int) -> float:  # noqa: ARG001 (as add_to_first)
    if amount < 0.0:
        raise ValueError("amount is negative; give a positive one")
    return amount * times


def test_what_machine_code_raises_at_an_address_is_raised() -> None:
    state = make()._replace(add=refuse_negative if config.DISABLE_JIT else Address(refuse_negative))
    if not config.DISABLE_JIT:
        state.add.compile((Table(state).kind, float64, int64))
    assert add_twice(state, 0.5) == 1.0
    with pytest.raises(ValueError, match="give a positive one"):
        add_twice(state, -0.5)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="tuples are handed over as they are")
@pytest.mark.parametrize("part", [np.zeros((4, 4))[:, 0], [1.0], "text", None], ids=repr)
def test_what_cannot_be_handed_over_is_refused(part: Any) -> None:
    with pytest.raises(TypeError, match="give"):
        double(make()._replace(inner=Inner(part, np.zeros((1, 2, 2)))))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="tuples are handed over as they are")
def test_a_renewed_table_is_as_one_made_anew() -> None:
    before = make()
    longer = before._replace(inner=Inner(np.arange(7.0), before.inner[1]))
    flat = before._replace(inner=Inner(np.zeros((2, 2)), before.inner[1]))  # of another type
    for state in (before, longer, flat):
        renewed, anew = Table(before).renewed(state), Table(state)
        assert renewed.kind is anew.kind
        assert renewed._words.tolist() == anew._words.tolist()
        assert renewed.value is state


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="tuples are handed over as they are")
def test_a_forest_is_found_by_its_addresses() -> None:
    tree = committee_of(schema_of(["numeric", "nominal"], [0, 3]), 3, grace_period=5)
    draw = np.random.default_rng(1)
    for _ in range(60):
        code = int(draw.integers(3))
        teach(tree, np.array([draw.normal(), code]), code, 1.0)
    words = Table(tree.forest)._words.reshape(-1, 2)
    assert words[:, 0].tolist() == [array.ctypes.data for array in tree.forest]
    assert words[:, 1].tolist() == [len(array) for array in tree.forest]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_only_a_long_call_lets_go_of_pythons_lock() -> None:
    """A call of a round that did would wait milliseconds for it beside a busy thread (docs/threads.md)."""
    rounds = {"Ada": adaptive.AdaptiveBooster.compiled_round, "Gap": GapBoost.compiled_round}
    kernels = {
        f"{name} {part}": getattr(of, part) for name, of in rounds.items() for part in ("decide", "learn")
    }
    assert [name for name, one in kernels.items() if one._options.get("nogil")] == []
    assert loop.play_compiled._options["nogil"]


@pytest.mark.parametrize("kind", [SETTINGS, COUNTS])
def test_no_field_of_a_record_hides_behind_a_method(kind: np.dtype[Any]) -> None:
    """Interpreted, `record.clip` would be NumPy's method and not the number that compiled code reads."""
    assert [name for name in kind.names or () if hasattr(np.record, name)] == []


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_models_made_before_the_learning_of_trees_was_compiled_learn_all_the_same() -> None:
    """In a process of its own, since it is compiled or loaded once in each."""
    script = """
from banditboost import AdaBandit, GapBoost, Schema, play
schema = Schema(numeric=["x"])
models = [kind(["p", "q"], schema=schema, seed=1) for kind in (AdaBandit, GapBoost, AdaBandit, GapBoost, AdaBandit)]
waiting = [(model, model.decide({"x": 1.0})) for model in models]
for model, decision in reversed(waiting):
    model.learn(decision, True)
late = AdaBandit(["p", "q"], schema=schema, seed=1)
play(models[0], [[1.0]] * 50, ["p"] * 50)
print(sum(model.verdicts for model in models))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "55"), done.stderr
