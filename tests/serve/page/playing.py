"""A service with traffic: people of four kinds who like different stories, and who change their minds once."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from banditboost.serve.clock import Clock
from banditboost.serve.http.app import create_app
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictRequest
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.serving import serving

STORIES = ["sports", "politics", "science", "music", "travel"]
NEWS = ModelSettings(labels=STORIES, seed=7, control=0.1, window=900.0, silence="wrong")
_LIKES = {"phone": (0, 3), "desktop": (1, 2), "tablet": (2, 4), "tv": (3, 0)}


class Playing:
    """Decisions and verdicts, in a time of its own that ends now.

    Args:
        service: that has started.
        name: of the model.
        span: seconds that the past took.
        seed: of the people.
    """

    def __init__(self, service: SoloService, name: str, seed: int = 1) -> None:
        self._service, self._name, self._random, self._n = service, name, random.Random(seed), 0

    async def play(self, n: int, change: int | None = None, pause: float = 0.0) -> None:
        """So many decisions; after `change` of them people like other stories."""
        for number in range(n):
            hour, device = self._random.randrange(24), self._random.choice(list(_LIKES))
            features = msgspec.json.encode({"hour": hour, "device": device})
            asked = DecisionRequest(features=features, ranking=5)
            (answer,) = await self._service.decide(self._name, [asked])
            assert isinstance(answer, DecisionAnswer)
            await self._tell(answer, hour, device, change is not None and number >= change)
            if pause:
                await asyncio.sleep(pause)

    async def _tell(self, answer: DecisionAnswer, hour: int, device: str, is_late: bool) -> None:
        draw, morning, evening = self._random.random(), *_LIKES[device]
        liked = morning if hour < 14 else evening
        liked = (liked + 2) % len(STORIES) if is_late else liked
        right = answer.label == STORIES[liked] if draw < 0.94 else draw < 0.96
        if self._random.random() < 0.97:
            await self._service.judge(self._name, [VerdictRequest(id=answer.id, correct=right)])
        if self._random.random() < 0.01:
            await self._service.judge(self._name, [VerdictRequest(id=answer.id, correct=True)])


class FastClock:
    """A time of day that passes quickly, until it is now."""

    def __init__(self, behind: float, step: float) -> None:
        self._behind, self._step = behind, step

    def __call__(self) -> float:
        self._behind = max(0.0, self._behind - self._step)
        return time.time() - self._behind


@contextmanager
def site(
    folder: Path,
    settings: ServiceSettings,
    played: dict[str, tuple[int, int | None]],
    *,
    past: float = 0.0,
    pause: float = 0.0,
) -> Iterator[str]:
    """The address of a service whose models were played so many times, and are played on if there is a pause.

    Args:
        folder: of the store.
        settings: of the service.
        played: of each model, how many decisions, and after how many people change their minds.
        past: how long that took, in seconds.
        pause: seconds between two decisions from then on; 0 for none.
    """
    total = sum(n for n, _ in played.values())
    clock = Clock(FastClock(past, past / max(1.0, 1.98 * total)))
    service = SoloService(settings, SQLiteStore(folder), clock)
    ended = threading.Event()

    async def more() -> None:
        while not ended.is_set():
            for name in played:
                await Playing(service, name, int(time.time())).play(20, 0, pause)

    app, task = create_app(service), list[asyncio.Task[None]]()

    async def playing(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return

        async def heard() -> Any:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                ended.set()
                await asyncio.gather(*task)
            return message

        async def told(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                for name, (n, change) in played.items():
                    await Playing(service, name).play(n, change)
                if pause:
                    task.append(asyncio.create_task(more()))
            await send(message)

        await app(scope, heard, told)

    with serving(playing) as address:
        yield address
