"""A service that keeps nothing: enough to test its doors by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from banditboost.serve.health import Health
from banditboost.serve.messages import (
    DecisionAnswer,
    DecisionRequest,
    ModelInfo,
    Outcome,
    VerdictAnswer,
    VerdictRequest,
)
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.store.base import StoredEvent


class MemoryService:
    """Shows the first label that may be shown, and counts verdicts."""

    def __init__(self, settings: ServiceSettings | None = None) -> None:
        self.settings = settings or ServiceSettings()
        self.models: dict[str, ModelSettings] = {}
        self.answers: dict[str, DecisionAnswer] = {}
        self.asked: list[DecisionRequest] = []
        self.judged: dict[str, VerdictRequest] = {}
        self.refusal: ServiceError | None = None
        self.started = False

    async def start(self) -> None:
        self.started = True

    async def stop(self) -> None:
        self.started = False

    async def create(self, name: str, settings: ModelSettings) -> ModelInfo:
        if name in self.models:
            raise ServiceError(409, "name-taken", "there is such a model; take another name", field="name")
        self.models[name] = settings
        return await self.show(name)

    async def names(self, after: str = "", limit: int = 100) -> list[str]:
        return sorted(name for name in self.models if name > after)[:limit]

    async def show(self, name: str) -> ModelInfo:
        settings = self._known(name)
        told = msgspec.to_builtins(settings)
        return ModelInfo(
            name=name, id="m", settings=told, events=1, rounds=len(self.answers), verdicts=len(self.judged),
            open=0, created=1.0, changed=1.0, labels=settings.labels,
        )  # fmt: skip

    async def change(self, name: str, changes: dict[str, Any]) -> ModelInfo:
        self.models[name] = msgspec.convert(msgspec.to_builtins(self._known(name)) | changes, ModelSettings)
        return await self.show(name)

    async def delete(self, name: str) -> None:
        self._known(name)
        del self.models[name]

    async def download(self, name: str) -> bytes:
        self._known(name)
        return b"file"

    async def upload(self, name: str, file: bytes) -> ModelInfo:
        if file != b"file":
            raise ServiceError(422, "no-model", "this is no model's file; send what model.save wrote")
        return await self.show(name)

    async def reset(self, name: str) -> ModelInfo:
        return await self.show(name)

    async def decide(
        self, name: str, requests: Sequence[DecisionRequest]
    ) -> list[DecisionAnswer | ServiceError]:
        labels = self._known(name).labels
        self.asked += requests
        return [self._decide(request, labels) for request in requests]

    def _decide(self, request: DecisionRequest, labels: list[Any]) -> DecisionAnswer | ServiceError:
        if not set(request.allowed or ()) <= set(labels):
            return ServiceError(422, "label", "allowed has an unknown label; leave it out", field="allowed")
        answer = DecisionAnswer(
            id=request.id or f"made-{len(self.answers)}", label=(request.allowed or labels)[0], probability=0.5,
            explored=False, arm="model", version="m.0", deferred=request.deferred, expires=2.0,
        )  # fmt: skip
        return self.answers.setdefault(answer.id, answer)

    async def judge(
        self, name: str, requests: Sequence[VerdictRequest]
    ) -> list[VerdictAnswer | ServiceError]:
        self._known(name)
        return [VerdictAnswer(id=request.id, outcome=self._judge(request)) for request in requests]

    def _judge(self, request: VerdictRequest) -> Outcome:
        if request.id not in self.answers:
            return "unknown"
        return "learned" if self.judged.setdefault(request.id, request) is request else "duplicate"

    async def activate(self, name: str, ids: Sequence[str]) -> list[VerdictAnswer | ServiceError]:
        self._known(name)
        return [VerdictAnswer(id=id, outcome="learned" if id in self.answers else "unknown") for id in ids]

    async def log(self, name: str, after: int = 0) -> AsyncIterator[Sequence[StoredEvent]]:  # noqa: ARG002
        self._known(name)
        yield []

    async def statistics(self, name: str, span: str = "hour") -> dict[str, Any]:
        self._known(name)
        return {"decisions": len(self.answers), "span": span}

    def health(self) -> Health:
        return Health()

    def _known(self, name: str) -> ModelSettings:
        if self.refusal is not None:
            raise self.refusal
        if name not in self.models:
            raise ServiceError(404, "unknown-model", "there is no such model; PUT makes it", field="name")
        return self.models[name]
