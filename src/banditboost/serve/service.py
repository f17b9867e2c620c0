"""The service as its doors see it: HTTP, the dialects, the page and the command line call nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from banditboost.serve.health import Health
from banditboost.serve.messages import (
    DecisionAnswer,
    DecisionRequest,
    ModelInfo,
    VerdictAnswer,
    VerdictRequest,
)
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.store.base import StoredEvent


class Service(Protocol):
    """All calls are made in the event loop. What they return is durable.

    A call that is refused as a whole raises a ServiceError, and has changed nothing.
    """

    settings: ServiceSettings

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Answer what is under way, write snapshots, close the store."""
        ...

    # Models

    async def create(self, name: str, settings: ModelSettings) -> ModelInfo: ...

    async def names(self, after: str = "", limit: int = 100) -> list[str]: ...

    async def show(self, name: str) -> ModelInfo: ...

    async def change(self, name: str, changes: dict[str, Any]) -> ModelInfo:
        """Change settings by name; labels that are new join, those left out are removed."""
        ...

    async def delete(self, name: str) -> None: ...

    async def download(self, name: str) -> bytes: ...

    async def upload(self, name: str, file: bytes) -> ModelInfo: ...

    async def reset(self, name: str) -> ModelInfo:
        """Forget what was learned; settings and the log stay."""
        ...

    # Decisions: one answer, or one ServiceError, for each request, in their order

    async def decide(
        self, name: str, requests: Sequence[DecisionRequest]
    ) -> list[DecisionAnswer | ServiceError]: ...

    async def judge(
        self, name: str, requests: Sequence[VerdictRequest]
    ) -> list[VerdictAnswer | ServiceError]: ...

    async def activate(self, name: str, ids: Sequence[str]) -> list[VerdictAnswer | ServiceError]: ...

    # Looks

    def log(self, name: str, after: int = 0) -> AsyncIterator[Sequence[StoredEvent]]: ...

    async def statistics(self, name: str, span: str = "hour") -> dict[str, Any]:
        """What the page shows of a model: `statistics.show` of a look at its ModelStatistics, in a thread."""
        ...

    def health(self) -> Health:
        """How the service is now; it is asked often and reads what is known."""
        ...
