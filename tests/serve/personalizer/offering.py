"""A service that chooses the last of what is offered, and notes what it was asked."""

from __future__ import annotations

from typing import Any

import msgspec

from banditboost.serve.messages import DecisionAnswer, DecisionRequest, Place
from tests.serve.http.memory import MemoryService


class OfferingService(MemoryService):
    """Enough to test the dialects by themselves."""

    def _decide(self, request: DecisionRequest, labels: list[Any]) -> DecisionAnswer:  # noqa: ARG002
        ids = list(msgspec.json.decode(request.options or b"{}"))
        allowed = [str(id_) for id_ in request.allowed or ids]
        answer = DecisionAnswer(
            id=request.id or "made", label=allowed[-1], probability=0.25, explored=True, arm="model",
            version="m.0", deferred=request.deferred, expires=2.0,
            ranking=[Place(id_, 0.25 if id_ == allowed[-1] else 0.75) for id_ in allowed],
        )  # fmt: skip
        return self.answers.setdefault(answer.id, answer)
