"""Decisions that wait for their verdicts, each under an id of the user's.

Where to look:

    store.py     `PendingDecisions`: decisions in, verdicts in, expiry
    waiting.py   what waits, and what became of it
    stored.py    a store as plain data, read with a look at all of it
"""

from banditboost.pending.store import PendingDecisions as PendingDecisions
from banditboost.pending.waiting import Outcome as Outcome

__all__ = ["Outcome", "PendingDecisions"]
