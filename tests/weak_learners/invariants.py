"""What must be true of a committee's arrays at any moment: a walk over all trees, entries, rows and free
lists.
"""

from __future__ import annotations

import math

import numpy as np

from banditboost.rows.features import NUMERIC
from banditboost.weak_learners.tree_committee import TreeCommittee
from tests.trees.forests import children_of


def check_committee(committee: TreeCommittee) -> None:
    nodes = _all_nodes(committee)
    leaves = {
        node: entries_of(committee, node) for node in nodes if committee.forest.steps[node]["feature"] < 0
    }
    entries = [entry for chain in leaves.values() for entry in chain]
    summaries = [int(committee.forest.nodes[leaf]["summary"]) for leaf in leaves]
    rows = [row for row in [*committee.forest.entries["row"][entries].tolist(), *summaries] if row >= 0]
    _check_partition("nodes", nodes, [], int(committee.forest.head["n_nodes"][0]))
    without_leaf, without_use = free_entries(committee), free_rows(committee)
    _check_partition("entries", entries, without_leaf, len(committee.forest.entries))
    _check_partition("rows", rows, without_use, _n_rows(committee))
    assert len(without_leaf) == committee.forest.head["n_free_entries"][0]
    assert len(without_use) == committee.forest.head["n_free_rows"][0]
    for node in nodes:
        if node in leaves:
            _check_leaf(committee, node, leaves[node])
        else:
            _check_split(committee, node)


def _check_partition(what: str, owned: list[int], free: list[int], n: int) -> None:
    """Each of n things is owned once, or free."""
    assert sorted([*owned, *free]) == list(range(n)), f"{what} are owned twice, or lost"


def _all_nodes(committee: TreeCommittee) -> list[int]:
    found, waiting = [], committee.forest.trees["root"].tolist()
    while waiting:
        found.append(waiting.pop())
        assert len(found) <= committee.forest.head["n_nodes"][0], "a circle"
        if committee.forest.steps[found[-1]]["feature"] >= 0:
            waiting.extend(children_of(committee, found[-1]))
    return found


def entries_of(committee: TreeCommittee, leaf: int) -> list[int]:
    return _chain(int(committee.forest.nodes[leaf]["first_entry"]), committee.forest.entries["next"])


def free_entries(committee: TreeCommittee) -> list[int]:
    return _chain(int(committee.forest.head["free_entry"][0]), committee.forest.entries["next"])


def free_rows(committee: TreeCommittee) -> list[int]:
    size = int(committee.forest.head["row_size"][0])
    return _chain(
        int(committee.forest.head["free_row"][0]), committee.forest.stats[::size] if size else np.zeros(0)
    )


def _n_rows(committee: TreeCommittee) -> int:
    size = int(committee.forest.head["row_size"][0])
    assert size == 0 or len(committee.forest.stats) % size == 0
    return len(committee.forest.stats) // max(size, 1)


def _chain(first: int, following: np.ndarray) -> list[int]:
    found = []
    while first >= 0:
        found.append(first)
        assert len(found) <= len(following), "a circle"
        first = int(following[first])
    return found


def _check_split(committee: TreeCommittee, node: int) -> None:
    step, rest = committee.forest.steps[node], committee.forest.nodes[node]
    feature = committee.forest.features[step["feature"]]
    assert np.isfinite(step["threshold"]) == (feature["kind"] == NUMERIC)
    assert 2 <= rest["n_children"] <= (2 if feature["kind"] == NUMERIC else feature["n_values"])
    assert int(rest["default_child"]) in children_of(committee, node)
    assert rest["first_entry"] == rest["summary"] == -1


def _check_leaf(committee: TreeCommittee, leaf: int, chain: list[int]) -> None:
    node, mine = committee.forest.nodes[leaf], committee.forest.entries[chain]
    labels, weights = mine["label"], mine["weight"]
    assert mine["position"].tolist() == list(range(len(mine)))
    assert len(set(labels.tolist())) == len(mine)
    assert np.all((labels >= 0) & (labels < committee.forest.head["n_labels"][0]))
    assert np.all(np.isfinite(weights))
    assert np.all(weights > 0)
    for name in ("weight", "own", "examples", "last_attempt", "majority_right", "bayes_right"):
        assert 0 <= node[name] < np.inf, name
    assert node["last_attempt"] <= node["weight"]
    assert node["n_classes"] == np.sum(mine["row"] >= 0)
    assert (node["summary"] >= 0) == (node["n_classes"] > 0)
    assert np.all(mine["own"][mine["row"] < 0] == 0)
    assert math.isclose(mine["own"].sum(), node["own"], rel_tol=1e-6, abs_tol=1e-12)
    if len(mine):
        assert chain[int(np.argmax(weights))] == node["top"]
        assert np.sum(weights == weights.max()) == node["n_tied"]
    if node["asleep"]:
        assert node["summary"] == -1
        assert node["own"] == 0
    if node["summary"] >= 0:
        _check_statistics(committee, leaf, mine[mine["row"] >= 0])


def most_columns(committee: TreeCommittee) -> int:
    return int(committee.forest.choice["max_columns"][0])


def columns_of(committee: TreeCommittee) -> dict[int, list[int]]:
    """Of every leaf with statistics, in its order."""
    n_nodes = int(committee.forest.head["n_nodes"][0])
    leaves = np.flatnonzero(committee.forest.nodes["summary"][:n_nodes] >= 0).tolist()
    return {leaf: columns_of_leaf(committee, leaf) for leaf in leaves}


def columns_of_leaf(committee: TreeCommittee, leaf: int) -> list[int]:
    forest, columns = committee.forest, list(range(len(committee.forest.features)))
    if len(columns) <= most_columns(committee):
        return columns
    at, columns = int(forest.nodes[leaf]["summary"]) * int(forest.head["row_size"][0]), []
    while len(columns) < most_columns(committee):
        columns.append(int(forest.stats[at + 2]))
        at += int(forest.features[columns[-1]]["capacity"])
    return columns


def _check_statistics(committee: TreeCommittee, leaf: int, mine: np.ndarray) -> None:
    """Weights finite, not negative and no more than the leaf has seen; means between the smallest and the
    largest value.
    """
    size = int(committee.forest.head["row_size"][0])
    table = committee.forest.stats.reshape(-1, size)
    summary, rows = table[committee.forest.nodes[leaf]["summary"]], table[mine["row"]]
    assert np.all(np.isfinite(rows))
    most = committee.forest.nodes[leaf]["own"] * (1 + 1e-9)
    columns = columns_of_leaf(committee, leaf)
    assert len(set(columns)) == len(columns) == min(len(committee.forest.features), most_columns(committee))
    following = 0
    for feature in committee.forest.features[columns]:
        at, following = following, following + int(feature["capacity"])
        if feature["kind"] != NUMERIC:
            cells = rows[:, at : at + int(feature["capacity"])]
            assert np.all(cells >= 0)
            assert np.all(cells[:, int(feature["n_values"]) :] == 0)
            assert cells.sum() <= most
            continue
        weight, mean, low, high = rows[:, at], rows[:, at + 1], summary[at], summary[at + 1]
        assert np.all(weight >= 0)
        assert weight.sum() <= most
        if not weight.any():
            assert (low, high) == (np.inf, -np.inf)
            continue
        slack = 1e-9 * max(abs(low), abs(high))
        assert np.isfinite([low, high]).all()
        assert np.all((low - slack <= mean[weight > 0]) & (mean[weight > 0] <= high + slack))
