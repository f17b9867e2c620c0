"""A picture of one tree: indented text, or Graphviz's DOT."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from banditboost.inspection.summary import Trees
from banditboost.rows.schema import Schema
from banditboost.text import graphviz, visible
from banditboost.trees.layout import Forest

_MOST_SHARES = 3  # labels named at a leaf,
_LEAST_SHARE = 0.005  # none of them with 0.00
_INDENT = "|  "


@dataclass(frozen=True)
class Node:
    """A split, or a leaf."""

    parent: int
    """Place of the node above among the nodes of the view; -1 at the root."""
    level: int
    condition: str
    """Which rows come here from the node above; empty at the root."""
    is_leaf: bool
    feature: Hashable = None
    """What a split asks for."""
    gain: float = 0.0
    """Of a split: information gain in bits, times the weight it was made on."""
    weight: float = 0.0
    """Of a leaf: all that it has seen, and what it was handed at the split above."""
    shares: dict[Hashable, float] = field(default_factory=dict)
    """Of a leaf: the labels' shares of its weight, the largest first."""
    asleep: bool = False

    def __str__(self) -> str:
        if not self.is_leaf:
            return visible(self.feature)
        if not self.shares:
            return "nothing seen"
        seen = [
            f"{visible(label)} {share:.2f}" for label, share in self.shares.items() if share >= _LEAST_SHARE
        ]
        named = ", ".join(seen[:_MOST_SHARES]) + (
            f", {len(seen) - _MOST_SHARES} more" if len(seen) > _MOST_SHARES else ""
        )
        weight = f"{self.weight:,.0f}" if self.weight >= 100 else f"{self.weight:.3g}"
        return f"{named} (weight {weight}{', asleep' if self.asleep else ''})"


@dataclass(frozen=True, repr=False)
class TreeView:
    """One tree of a model as it was when `model.tree` was called. Printed, it is indented text."""

    title: str
    nodes: tuple[Node, ...]
    """From top to bottom: each node before its children, the root first."""

    @property
    def n_leaves(self) -> int:
        return sum(node.is_leaf for node in self.nodes)

    @property
    def depth(self) -> int:
        """Splits on the longest way down."""
        return max(node.level for node in self.nodes)

    def __repr__(self) -> str:
        """What a node asks is told by its children; a leaf follows its condition on the same line."""
        lines = [
            f"{visible(self.title)}: {self.n_leaves:,} {'leaf' if self.n_leaves == 1 else 'leaves'}, depth "
            f"{self.depth}"
        ]
        for node in self.nodes:
            if node.level == 0:
                lines += [str(node)] if node.is_leaf else []
            else:
                lines.append(
                    _INDENT * (node.level - 1) + node.condition + (f": {node}" if node.is_leaf else "")
                )
        return "\n".join(lines)

    def to_graphviz(self) -> str:
        """The tree in DOT, for `dot -Tsvg` or the graphviz package."""
        lines = [
            "digraph tree {",
            f"  label={graphviz(self.title)};",
            '  node [shape=box, style=rounded, fontname="sans-serif"];',
        ]
        lines.append('  edge [fontname="sans-serif", fontsize=10];')
        for number, node in enumerate(self.nodes):
            lines.append(f"  n{number} [label={graphviz(str(node))}];")
            if node.parent >= 0:
                lines.append(f"  n{node.parent} -> n{number} [label={graphviz(node.condition)}];")
        return "\n".join([*lines, "}"]) + "\n"


def view_tree(forest: Forest, tree: int, schema: Schema, labels: Sequence[Hashable], title: str) -> TreeView:
    """Read a tree out of a forest. Without recursion: trees may be deep."""
    nodes: list[Node] = []
    waiting = [(int(forest.trees["root"][tree]), -1, 0, "")]
    while waiting:
        at, parent, level, condition = waiting.pop()
        waiting += [
            (child, len(nodes), level + 1, text) for child, text in reversed(_below(forest, at, schema))
        ]
        nodes.append(Node(parent, level, condition, **_contents(forest, at, schema, labels)))
    return TreeView(title, tuple(nodes))


def _below(forest: Forest, at: int, schema: Schema) -> list[tuple[int, str]]:
    """The children of a split, and which rows go to each.

    Missing values, and those not known at the split, go to the default child.
    """
    step, node = forest.steps[at], forest.nodes[at]
    if step["feature"] < 0:
        return []
    name = schema.names[step["feature"]]
    text = visible(name)
    if math.isnan(step["threshold"]):
        conditions = [f"{text} = {visible(value)}" for value in schema.values(name)[: node["n_children"]]]
    else:
        conditions = [f"{text} {sign} {step['threshold']:.6g}" for sign in ("<=", ">")]
    first = int(step["next"])
    conditions[node["default_child"] - first] += " or missing"
    return [(first + branch, condition) for branch, condition in enumerate(conditions)]


def _contents(forest: Forest, at: int, schema: Schema, labels: Sequence[Hashable]) -> dict[str, Any]:
    node, feature = forest.nodes[at], int(forest.steps["feature"][at])
    if feature >= 0:
        return {"is_leaf": False, "feature": schema.names[feature], "gain": float(node["gain"])}
    classes = sorted(_classes(forest, int(node["first_entry"])), key=lambda item: -item[1])
    total = sum(weight for _, weight in classes)
    shares = {labels[label]: weight / total for label, weight in classes}
    return {"is_leaf": True, "weight": total, "shares": shares, "asleep": bool(node["asleep"])}


def _classes(forest: Forest, entry: int) -> Iterator[tuple[int, float]]:
    while entry >= 0:
        yield int(forest.entries["label"][entry]), float(forest.entries["weight"][entry])
        entry = int(forest.entries["next"][entry])


def count_trees(forest: Forest) -> Trees:
    """How many trees and leaves there are, for the summary."""
    n_nodes, head = int(forest.head["n_nodes"][0]), forest.head[0]
    leaves = forest.steps["feature"][:n_nodes] < 0
    asleep = int(np.count_nonzero(forest.nodes["asleep"][:n_nodes][leaves]))
    return Trees(
        len(forest.trees),
        int(np.count_nonzero(leaves)),
        asleep,
        bool(head["nodes_full"] or head["entries_full"]),
    )


def importances(forest: Forest, schema: Schema) -> dict[Hashable, float]:
    """Each feature's share of what all splits have gained."""
    n_nodes = int(forest.head["n_nodes"][0])
    feature, gain = forest.steps["feature"][:n_nodes], forest.nodes["gain"][:n_nodes]
    splits = feature >= 0
    gains = np.bincount(feature[splits], gain[splits], len(schema.names))
    shares = gains / gains.sum() if gains.sum() > 0.0 else gains
    return dict(zip(schema.names, shares.tolist(), strict=True))
