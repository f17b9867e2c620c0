"""Weak learners: the built-in Hoeffding tree, and any Python object that can predict and learn.

Where to look:

    protocol.py                what a booster asks of a weak learner, and of a committee of them
    hoeffding.py               the tree's parameters
    tree_committee.py          all trees of a model, and the memory that they share
    stored.py                  whether trees of a file are sound
    python_committee.py        learners that are Python objects
    cost_sensitive_linear.py   one that is taught by cost vectors
"""
