"""What `decide` returns, and how it travels until its verdict comes.

Where to look:

    decision.py   `Decision`: what was shown, with what probability
    origin.py     whose it is: model, branch, run
    labels.py     the labels that it knows, and those that were allowed
    stored.py     a decision as plain data, read with a look at all of it
    tokens.py     a decision as signed text, for places that others can write to
"""

from banditboost.decision.decision import Decision as Decision
from banditboost.decision.origin import Origin as Origin

__all__ = ["Decision", "Origin"]
