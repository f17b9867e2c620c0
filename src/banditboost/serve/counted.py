"""A service whose decisions and verdicts are counted, whichever dialect asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictAnswer, VerdictRequest
from banditboost.serve.metrics import Metrics
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service


def counted(service: Service, metrics: Metrics) -> Service:
    """The same service; the metrics hear of what it answers."""
    return cast(Service, _Counted(service, metrics))


class _Counted:
    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._service, self._metrics = service, metrics

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def decide(
        self, name: str, requests: Sequence[DecisionRequest]
    ) -> list[DecisionAnswer | ServiceError]:
        answers = await self._service.decide(name, requests)
        for answer in answers:
            if isinstance(answer, ServiceError):
                self._metrics.refused(answer.code)
            elif not answer.repeated:
                self._metrics.decided(name, answer.arm)
        return answers

    async def judge(
        self, name: str, requests: Sequence[VerdictRequest]
    ) -> list[VerdictAnswer | ServiceError]:
        answers = await self._service.judge(name, requests)
        for answer in answers:
            if isinstance(answer, ServiceError):
                self._metrics.refused(answer.code)
            else:
                self._metrics.judged(name, answer.outcome)
        return answers
