"""OptionBoost against its slow twin, decision for decision, leaf for leaf."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from banditboost import HoeffdingTree, OptionBoost, Schema
from banditboost.rows.options import code_of_id
from tests.boosting.kernels import INTERPRETED
from tests.boosting.twins import CLOSE_WEIGHT, SEED, compare_shapes, shape_of
from tests.naive import rng
from tests.naive.options import OptionBoost as Twin
from tests.naive.tree import Tree

ROUNDS = 30 if INTERPRETED else 200
TREE = HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.6)
COLOURS, SIZES = ("red", "blue", "green"), ("s", "l")
NAMES = ["u", "option.price", "c", "option.colour", "v", "option.size", "option.weight"]
KINDS = ["numeric", "numeric", "nominal", "nominal", "numeric", "nominal", "numeric"]
VALUES = [(), (), COLOURS, COLOURS, (), SIZES, ()]
OF_OPTIONS = [name.startswith("option.") for name in NAMES]


class Pair:
    """OptionBoost and its twin."""

    def __init__(self, n_learners: int = 4, **parameters: Any) -> None:
        schema = Schema.of(NAMES, KINDS, VALUES)
        n_values = list(map(len, VALUES))

        def tree(number: int) -> Tree:
            u = rng.uniform(SEED, number, rng.TREE_PARAMETER, 0)
            return Tree(2, KINDS, n_values, rng.between(u, 5.0, 10.0), 0.1, 0.6)

        self.booster = OptionBoost(
            n_learners=n_learners, weak_learner=TREE, schema=schema, seed=SEED, **parameters
        )
        self.twin = Twin(n_learners, tree, KINDS, n_values, OF_OPTIONS, SEED, **parameters)

    def decide(self, x: dict[str, Any], options: dict[Any, Any], allowed: list[Any] | None = None) -> Any:
        decision = self.booster.decide(x, options, allowed)
        ids = list(options)
        rows = [
            self.coded({**x, **{f"option.{name}": v for name, v in one.items()}}) for one in options.values()
        ]
        among = None if allowed is None else [i for i, id_ in enumerate(ids) if id_ in allowed]
        expected = self.twin.decide(rows, [code_of_id(id_) for id_ in ids], among)
        assert (decision.round, decision.label, decision.greedy) == (
            expected.round,
            ids[expected.ytilde],
            ids[expected.yhat],
        )
        assert decision.probability == pytest.approx(expected.p, **CLOSE_WEIGHT)
        assert list(decision.distribution().values()) == pytest.approx(expected.P, **CLOSE_WEIGHT)
        return decision, expected

    def coded(self, row: dict[str, Any]) -> list[float]:
        return coded(row)

    def learn(self, both: Any, reward: float) -> None:
        decision, expected = both
        self.booster.learn(decision, reward=reward)
        self.twin.learn(expected, reward)

    def compare(self) -> None:
        committee = self.booster._committee
        for number, tree in enumerate(self.twin.groups[0]):
            compare_shapes(shape_of(committee, int(committee.forest.trees[number]["root"])), tree.shape())
        told = [*self.twin.L, self.twin.L_narrow, self.twin.L_wide]
        assert self.booster._losses.tolist() == pytest.approx(told, **CLOSE_WEIGHT)
        own = self.booster._own
        for place, (name, count, total) in self.twin.ids.items():
            assert (own[place]["name"], own[place]["count"]) == (name, count)
            assert own[place]["sum"] == pytest.approx(total, **CLOSE_WEIGHT)
        self.compare_lines()
        assert int(np.count_nonzero(own["count"])) == len(self.twin.ids)

    def compare_lines(self) -> None:
        lines = self.booster._lines
        n = int(lines.taken[0])
        assert lines.losses.tolist() == pytest.approx(self.twin.L_lines, **CLOSE_WEIGHT)
        assert sorted(lines.rooms["place"][:n].tolist()) == sorted(self.twin.lines)
        for room, (place, learned) in enumerate(lines.rooms[:n].tolist()):
            line = self.twin.lines[place]
            assert (self.booster._own[place]["room"], learned) == (room + 1, line.learned)
            told = [line.w.get(name, 0.0) for name in self.twin.first_of_line]
            assert lines.regressions.weights[room].tolist() == pytest.approx(told, **CLOSE_WEIGHT)


class Growing(Pair):
    """The same where columns and values join as they come; the twin is told of the schema."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: list[str] = []
        self.n_values: list[int] = []
        self.of_options: list[bool] = []

        def tree(number: int) -> Tree:
            u = rng.uniform(SEED, number, rng.TREE_PARAMETER, 0)
            return Tree(2, self.kinds, self.n_values, rng.between(u, 5.0, 10.0), 0.1, 0.6)

        self.booster = OptionBoost(n_learners=4, weak_learner=TREE, seed=SEED)
        self.twin = Twin(4, tree, self.kinds, self.n_values, self.of_options, SEED)

    def coded(self, row: dict[str, Any]) -> list[float]:
        schema = self.booster.schema
        self.kinds[:], self.n_values[:] = schema.kinds, schema.n_values()
        self.of_options[:] = [name.startswith("option.") for name in schema.names]
        self.twin.grow()
        made = []
        for name, kind in zip(schema.names, schema.kinds, strict=True):
            value = row.get(name)
            code = value if value is None or kind == "numeric" else schema.values(name).index(value)
            made.append(math.nan if code is None else float(code))
        return made


def coded(row: dict[str, Any]) -> list[float]:
    made = []
    for name, kind, values in zip(NAMES, KINDS, VALUES, strict=True):
        value = row.get(name)
        made.append(math.nan if value is None else float(value if kind == "numeric" else values.index(value)))
    return made


def round_of(luck: np.random.Generator, n_options: int) -> tuple[dict[str, Any], dict[Any, Any]]:
    x = {"u": luck.normal(), "c": str(luck.choice(COLOURS)), "v": float(luck.integers(3))}
    options = {}
    for id_ in luck.choice(40, n_options, replace=False).tolist():
        own = {
            "price": float(luck.integers(1, 9)),
            "colour": str(luck.choice(COLOURS)),
            "size": str(luck.choice(SIZES)),
            "weight": 0.0 if luck.random() < 0.6 else luck.exponential(),
        }
        options[id_] = {name: value for name, value in own.items() if luck.random() < 0.9}
    return x, options


def reward_of(luck: np.random.Generator, x: dict[str, Any], one: dict[str, Any]) -> float:
    good = one.get("price", 0.0) * x["u"] > 0 or one.get("colour") == x["c"]
    return float(luck.random() < (0.8 if good else 0.1))


def play(pair: Pair, n_options: Callable[[int], int], n_rounds: int = ROUNDS) -> None:
    """Verdicts come late, in any order, or never."""
    luck, waiting = np.random.default_rng(3), []
    for t in range(n_rounds):
        x, options = round_of(luck, n_options(t))
        allowed = list(options)[::2] if t % 5 == 4 else None
        both = pair.decide(x, options, allowed)
        waiting.append((both, reward_of(luck, x, options[both[0].label])))
        for _ in range(min(luck.integers(0, 4), len(waiting))):
            pair.learn(*waiting.pop(luck.integers(len(waiting))))
    pair.compare()


@pytest.mark.parametrize("n_learners", [1, 5])
def test_option_boost_equals_its_twin(n_learners: int) -> None:
    play(Pair(n_learners), lambda t: 1 + t % 6)


def test_among_more_options_than_a_memo_holds() -> None:
    play(Pair(), lambda t: 30 + t % 10, n_rounds=8 if INTERPRETED else 40)


def test_with_little_memory_ids_share_places() -> None:
    """And stages are hashed, so that the regression reads no products."""
    play(Pair(max_memory=1 << 20), lambda t: 3 + t % 2)


def test_columns_and_values_join() -> None:
    """In the end so many that products of three columns find no room."""
    pair, luck = Growing(), np.random.default_rng(8)
    n_rounds = 24 if INTERPRETED else 120
    for t in range(n_rounds):
        n = 1 + 9 * t // n_rounds
        x = {f"x{i}": luck.normal() for i in range(n)} | {"c": COLOURS[luck.integers(min(n, 3))]}
        options = {}
        for id_ in range(3):
            own = {f"a{i}": luck.normal() for i in range(n)}
            options[id_] = own | {"colour": COLOURS[luck.integers(min(n, 3))]}
        both = pair.decide(x, options)
        pair.learn(both, float(luck.random() < 0.4))
    assert pair.booster._stages.layout.reads[0] == 2
    assert len(pair.booster._stages.triples) == 0
    pair.compare()
