"""A log that was written elsewhere is followed: by another version, or on another kind of processor.

There decisions may come out otherwise, if only in the last bits of a probability. What was answered stands:
the model learns what the log tells that was shown.
"""

from __future__ import annotations

from banditboost.serve.choosing import Chosen
from banditboost.serve.events import Decided
from banditboost.serve.messages import DecisionRequest
from banditboost.serve.served import DiffersError, Served


class Following(Served):
    """Takes what the log tells where something else comes out."""

    differing = 0
    """How many decisions have come out otherwise."""

    def _differ(self, what: str) -> None:  # noqa: ARG002 (that it does is what counts)
        self.differing += 1

    def _choose_again(self, event: Decided, request: DecisionRequest, version: str) -> Chosen:
        try:
            chosen = super()._choose_again(event, request, version)
        except DiffersError:  # it is refused now
            self.differing += 1
            return self._chosen_elsewhere(event)
        return chosen if chosen.label == event.label else chosen._replace(decision=None)
