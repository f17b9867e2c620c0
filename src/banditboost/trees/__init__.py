"""The Hoeffding forest, compiled: all trees of a committee in a few arrays. docs/trees.md says the rules.

Where to look:

    layout.py             the arrays
    forest.py             all trees at once: vote, score, learn
    route.py              from the root to a leaf
    leaf_prediction.py    what a leaf answers
    leaf_statistics.py    what a leaf remembers of an example
    split.py              when a leaf splits, and what its children start with
    merit.py              how good a split would be
    approximate_merit.py  the same to a few parts in ten thousand, for half of the price
    special_functions.py  the arithmetic of merits and costs
"""
