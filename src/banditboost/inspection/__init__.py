"""Seeing what a model has learned: its summary, its trees, its features. Models have these as methods.

Where to look:

    summary.py    what `model.summary()` tells
    accuracy.py   shares of right labels, with intervals
    tally.py      how a model has done so far, counted verdict by verdict
    changes.py    changes of the world that were noticed
    trees.py      what `model.tree()` shows, and feature importances
"""
