"""The files that models are kept in: one each, documented byte for byte in docs/format.md, without pickle.

This package knows the format and nothing of trees: it never imports Numba. `model.save(path)` writes such a
file, `banditboost.load(path)` makes the model again, and `describe(path)` tells what is inside.
"""

from banditboost.io.describe import describe as describe

__all__ = ["describe"]
