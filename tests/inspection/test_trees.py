"""Pictures of trees say what the trees do."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import HoeffdingTree, Schema
from banditboost.errors import LabelError, ParameterError
from banditboost.inspection.trees import TreeView, view_tree
from tests.baselines.test_bad_input import Constant
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import VALUES, make_stream
from tests.boosting.twins import make_booster
from tests.trees.forests import committee_of, schema_of, teach
from tests.weak_learners import test_forest_memory

ODD = 'a "quoted" \\ name\nof two lines'


def small() -> TreeView:
    """Colour decides for blue and green, size for red."""
    schema = Schema.of(["colour", ODD], ["nominal", "numeric"], [["red", "green", "blue"], None])
    committee = committee_of(schema, 3, grace_period=30.0, split_confidence=0.5, tie_threshold=0.9)
    for t in range(120):
        colour, size = t % 3, float(t % 10)
        teach(committee, np.array([colour, size]), 2 if colour == 2 else int(colour == 0 and size < 4.5))
    return view_tree(committee.forest, 0, schema, ["no", "yes", "never"], "a tree")


def test_the_text() -> None:
    """Each condition once, indented below the one above; leaves with their labels' shares."""
    lines = str(small()).splitlines()
    assert lines[0] == "a tree: 4 leaves, depth 2"
    assert lines[1] == "colour = red or missing"
    assert lines[2].startswith('|  a "quoted" \\ name\\nof two lines <= 4.09091: yes 0.99, no 0.01 (weight')
    assert lines[3].startswith(
        '|  a "quoted" \\ name\\nof two lines > 4.09091 or missing: no 0.96, yes 0.04 (weight'
    )
    assert lines[-2].startswith("colour = green: no 1.00 (weight 4")
    assert lines[-1].startswith("colour = blue: never 1.00 (weight 4")


def test_a_tree_of_one_leaf() -> None:
    model = banditboost.AdaFull(["yes", "no"], n_learners=2, seed=1)
    assert str(model.tree(1)) == "AdaFull, tree 1: 1 leaf, depth 0\nnothing seen"
    model.learn_one({"x": 1.0}, "no")
    assert re.fullmatch(r"AdaFull, tree 1: 1 leaf, depth 0\nno 1.00 \(weight [\d.]+\)", str(model.tree(1)))
    assert "n0" in model.tree(1).to_graphviz()
    assert "->" not in model.tree(1).to_graphviz()


def answer(view: TreeView, row: dict[str, Any]) -> dict[Any, float]:
    """Follow the conditions as they are written."""
    at = 0
    while not view.nodes[at].is_leaf:
        below = [i for i, node in enumerate(view.nodes) if node.parent == at]
        name, value = view.nodes[at].feature, row[view.nodes[at].feature]
        at = next(i for i in below if holds(view.nodes[i].condition, str(name), value))
    return view.nodes[at].shares


def holds(condition: str, name: str, value: Any) -> bool:
    """ "f0 <= 1.5 or missing", "f1 = red", ..."""
    if value is None:
        return condition.endswith(" or missing")
    sign, wanted = condition.removesuffix(" or missing").removeprefix(f"{name} ").split(" ")
    return (
        value == wanted if sign == "=" else value <= float(wanted) if sign == "<=" else value > float(wanted)
    )


@pytest.mark.parametrize("name", ["AdaFull", "BinBandit", "GapBoost"])
def test_who_follows_the_picture_comes_to_the_trees_answer(name: str) -> None:
    stream = make_stream("mixed", 3, 80 if INTERPRETED else 600)
    model = make_booster(name, 3, 3, schema=stream.schema())
    banditboost.play(model, stream.X, stream.y)
    label = {} if name == "AdaFull" else {"label": 1}
    first = 0 if name == "AdaFull" else 3 * model._group_of(1)
    views = [model.tree(number, **label) for number in range(3)]
    assert INTERPRETED or max(view.depth for view in views) > 1
    votes, n_trees = np.zeros(len(model._committee.forest.trees)), 3
    for x, row in zip(stream.X[:60], stream.dicts()[:60], strict=True):
        model._committee.vote(x, 0, votes)
        for number in range(n_trees):
            shares = answer(views[number], row)
            best = [option for option, share in shares.items() if share == max(shares.values())]
            if len(best) == 1:
                names = (0, 1, 2) if name == "AdaFull" else ("wrong", "right")
                assert names[int(votes[first + number])] == best[0]


def test_shares_sum_to_one_and_the_largest_comes_first() -> None:
    for node in small().nodes:
        if node.is_leaf and node.shares:
            assert sum(node.shares.values()) == pytest.approx(1.0)
            assert list(node.shares.values()) == sorted(node.shares.values(), reverse=True)


def test_many_labels_are_cut_short() -> None:
    committee = committee_of(Schema(numeric=["x"]), 6, grace_period=1e9)
    for label in [5, 4, 4, 3, 3, 3, 2, 2, 2, 2, *[1] * 5]:
        teach(committee, np.array([0.0]), label)
    view = view_tree(committee.forest, 0, Schema(numeric=["x"]), "abcdef", "a tree")
    assert str(view.nodes[0]) == "b 0.33, c 0.27, d 0.20, 2 more (weight 15)"


def test_sleeping_leaves_are_marked() -> None:
    committee = test_forest_memory.make(max_memory=8192, n_trees=1)
    test_forest_memory.train(committee, 600)
    view = view_tree(
        committee.forest,
        0,
        schema_of(test_forest_memory.KINDS, test_forest_memory.N_VALUES),
        range(8),
        "a tree",
    )
    asleep = [node for node in view.nodes if node.asleep]
    assert len(asleep) == len(test_forest_memory.sleepers(committee)) > 0
    assert str(view).count(", asleep)") == len([node for node in asleep if node.shares])


# Graphviz


def test_dot_has_every_node_and_edge() -> None:
    view = small()
    text = view.to_graphviz()
    assert re.findall(r"^  n(\d+) \[", text, re.MULTILINE) == [str(i) for i in range(len(view.nodes))]
    edges = {(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+) \[label=\"", text, re.MULTILINE)}
    assert edges == {(node.parent, i) for i, node in enumerate(view.nodes) if node.parent >= 0}
    assert r"a \"quoted\" \\ name\\nof two lines" in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it() -> None:
    view = small()
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=view.to_graphviz(), capture_output=True, text=True, check=True
    )
    assert drawn.stderr == ""
    assert drawn.stdout.count('class="node"') == len(view.nodes)
    assert drawn.stdout.count('class="edge"') == len(view.nodes) - 1


# What is refused


@pytest.mark.parametrize("number", [-1, 3, 1.0, True, None, "0"])
def test_unknown_trees_are_refused(number: Any) -> None:
    with pytest.raises(ParameterError, match="from 0 to 2"):
        make_booster("AdaBandit", 3, 3).tree(number)


def test_labels_are_asked_for_where_they_have_trees_of_their_own() -> None:
    with pytest.raises(LabelError, match="leave it out"):
        make_booster("AdaBandit", 3, 3).tree(0, 1)
    for name in ("BinBandit", "GapBoost"):
        model = make_booster(name, 3, 3)
        for wrong in ([], ["nobody"], [[1]]):
            with pytest.raises(LabelError, match=r"one of \(0, 1, 2\)"):
                model.tree(0, *wrong)
        with pytest.raises(LabelError, match="no trees yet"):
            model.tree(0, 1)
        decision = model.decide({"x": 1.0})
        model.learn(decision, True)
        assert str(model.tree(2, decision.label)).startswith(f"{name}, tree 2 of {decision.label}: 1 leaf,")


def test_boosters_without_trees_say_so() -> None:
    model = make_booster("AdaBandit", 3, 3, weak_learner=Constant)
    for call in (lambda: model.tree(0), model.feature_importances):
        with pytest.raises(
            ParameterError, match=r"AdaBandit has no trees to look into; make it with .*HoeffdingTree"
        ):
            call()


def test_baselines_without_learners_do_not_pretend_to_have_trees() -> None:
    model = banditboost.baselines.Majority(["yes", "no"], seed=1)
    assert not hasattr(model, "tree")
    assert not hasattr(model, "feature_importances")


# Feature importance


def test_importance_is_gain_times_weight() -> None:
    """One feature tells the label exactly: one bit for each of the ten examples of the only split."""
    model = banditboost.OptFull(
        ["yes", "no"], n_learners=1, weak_learner=HoeffdingTree(10.0, 0.5, 1.0), seed=1
    )
    assert model.feature_importances() == {}
    schema = Schema.of(["noise", "colour"], ["nominal", "nominal"], [VALUES, VALUES])
    committee = committee_of(schema, 2, grace_period=10.0)
    for t in range(10):
        teach(committee, np.array([t // 2 % 2, t % 2]), t % 2)
    model._committee = committee
    model._schema = schema
    assert float(committee.forest.nodes["gain"].max()) == pytest.approx(10.0)
    assert model.feature_importances() == {"noise": 0.0, "colour": 1.0}


@pytest.mark.parametrize("name", ["AdaBandit", "BinBandit", "GapBoost"])
def test_importance_adds_up_the_gains_of_all_pictures(name: str) -> None:
    stream = make_stream("mixed", 3, 80 if INTERPRETED else 500)
    model = make_booster(name, 3, 3, schema=stream.schema())
    assert set(model.feature_importances().values()) == {0.0}
    banditboost.play(model, stream.X, stream.y)
    heard = [()] if name == "AdaBandit" else [(label,) for label in model.summary().total.by_label]
    nodes = [
        node
        for label in heard
        for number in range(3)
        for node in model.tree(number, *label).nodes
        if not node.is_leaf
    ]
    total = sum(node.gain for node in nodes)
    assert total > 0.0
    expected = {
        feature: sum(node.gain for node in nodes if node.feature == feature) / total
        for feature in stream.names
    }
    assert model.feature_importances() == pytest.approx(expected)
    assert sum(model.feature_importances().values()) == pytest.approx(1.0)


@pytest.mark.skipif(INTERPRETED, reason="takes thousands of rounds")
def test_features_that_matter_matter_more() -> None:
    draw = np.random.default_rng(1)
    X = draw.normal(size=(3000, 3))
    model = banditboost.AdaFull(["low", "high"], n_learners=5, seed=1)
    banditboost.play(model, X, (X[:, 1] > 0).astype(int))
    shares = model.feature_importances()
    assert shares["x1"] > 0.8 > 0.2 > shares["x0"] + shares["x2"]
