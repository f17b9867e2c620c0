"""`python -m benchmarks.profile [streams] [--record]`: where the time of an AdaBandit round goes, each part
alone in a compiled loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost import HoeffdingTree, play
from banditboost.boosting.adaptive import choose, teach
from banditboost.boosting.edges import note_edges
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import round_key
from banditboost.memo import SHOWN, VOTES
from banditboost.trees.forest import learn_forest, vote_forest
from banditboost.trees.route import find_leaf
from banditboost.weak_learners.tree_committee import TreeCommittee
from benchmarks import machine, records
from benchmarks.cases import Case, asked, cases

ROUNDS = 8_000
Array = np.ndarray[Any, Any]


@kernel
def routes(forest: Any, memos: Array, n: int) -> int:
    total = 0  # or the compiler would leave all of it out
    for t in range(memos.shape[0]):
        for i in range(n):
            total += find_leaf(forest, i, memos[t, VOTES + 2 * n :])
    return total


@kernel
def votes(forest: Any, memos: Array, n: int) -> None:
    for t in range(memos.shape[0]):
        vote_forest(forest, memos[t, VOTES + 2 * n :], round_key(7, t), memos[t, VOTES : VOTES + n])


@kernel
def choices(model: Any, memos: Array) -> None:
    for t in range(memos.shape[0]):
        choose(model, memos[t], round_key(7, t))


@kernel
def lessons(model: Any, memos: Array, y: Array) -> None:
    for t in range(memos.shape[0]):
        teach(model, memos[t], 1 if memos[t, SHOWN] == y[t] else 0, round_key(7, t))


@kernel
def edges(settings: Any, memos: Array, y: Array, sums: Array) -> None:
    for t in range(memos.shape[0]):
        note_edges(settings, memos[t], y[t], sums)


@kernel
def learning(forest: Any, X: Array, labels: Array, weights: Array) -> None:
    for t in range(X.shape[0]):
        learn_forest(forest, 0, X[t], labels[t], weights[t], 0)


def microseconds(rounds: int, work: Callable[..., Any], *arguments: Any) -> float:
    """CPU time of a round; the first call compiles, and works on copies."""
    work(*[argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments])
    start = time.process_time()
    work(*arguments)
    return (time.process_time() - start) / rounds * 1e6


def record_lessons(case: Case) -> tuple[Any, Array, Array]:
    """Play by hand and write down what every tree was taught."""
    model, stream = case.model("AdaBandit"), case.stream
    labels = np.zeros((stream.rounds, model.n_learners), np.int64)
    weights = np.zeros((stream.rounds, model.n_learners))
    for t in range(stream.rounds):
        decision = model.decide(stream.X[t])
        model.learn(decision, decision.label == stream.labels[stream.y[t]])
        labels[t], weights[t] = model._scratch.labels, model._scratch.importance
    return model, labels, weights


def roomy(model: Any, case: Case, tree: HoeffdingTree) -> TreeCommittee:
    """An untaught committee with room for all that the model has grown."""
    committee = TreeCommittee(tree, len(model.labels), case.stream.schema(), model.seed, 1 << 32)
    committee.add(model.n_learners)
    goal = model._committee.forest
    while len(committee.forest.nodes) < 2 * len(goal.nodes):
        committee._grow_nodes(1000, 0)
    while len(committee.forest.entries) < 2 * len(goal.entries) + 10_000:
        committee._grow_entries(1000)
    while len(committee.forest.stats) < 2 * len(goal.stats) + 100_000:
        committee._grow_rows()
    return committee


def profile(case: Case) -> dict[str, float]:
    model, labels, weights = record_lessons(case)
    n, stream = model.n_learners, case.stream
    memos = np.tile(model._blank, (stream.rounds, 1))
    memos[:, VOTES + 2 * n :] = stream.X
    forest = model._committee.forest
    parts = {
        "way to the leaf": microseconds(stream.rounds, routes, forest, memos, n),
        "votes": microseconds(stream.rounds, votes, forest, memos, n),
    }
    state = model._state()
    parts["choice"] = microseconds(stream.rounds, choices, state, memos) - parts["votes"]
    parts["lesson"] = microseconds(stream.rounds, lessons, state, memos, stream.y)
    parts["edges"] = microseconds(stream.rounds, edges, model._settings, memos, stream.y, np.zeros((2, n)))
    for name, tree in (
        ("learning", model.weak_learner),
        ("learning, never splitting", HoeffdingTree(grace_period=1e12)),
    ):
        learning(roomy(model, case, tree).forest, stream.X[:10], labels[:10], weights[:10])
        committee = roomy(model, case, tree)
        start = time.process_time()
        learning(committee.forest, stream.X, labels, weights)
        parts[name] = (time.process_time() - start) / stream.rounds * 1e6
    play(case.model("AdaBandit"), stream.X[:10], stream.y[:10])  # compiles
    fresh = case.model("AdaBandit")
    start = time.process_time()
    play(fresh, *stream)
    parts["play"] = (time.process_time() - start) / stream.rounds * 1e6
    return parts


def main() -> None:
    options = asked("profile", "Where the time of an AdaBandit round goes.")
    told = records.about(machine.describe(None), records.typed("benchmarks.profile", None))
    for whole in cases(options.streams, 4):
        case = whole.cut(min(ROUNDS, whole.rounds))
        parts = profile(case)
        print(
            f"{case.name}: " + ", ".join(f"{name} {value:.2f} us" for name, value in parts.items()),
            flush=True,
        )
        if options.record:
            rounded = {name: round(value, 2) for name, value in parts.items()}
            records.update(
                options.record, [{"stream": case.name, "microseconds": rounded, **told}], ["stream"]
            )


if __name__ == "__main__":
    main()
