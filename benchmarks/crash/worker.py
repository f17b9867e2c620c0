"""The process that is killed: a service and its load. Each line tells what was answered."""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from banditboost.io.container import Contents, read_from
from banditboost.serve import making
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictAnswer, VerdictRequest
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore

LABELS = ["red", "green", "blue"]
MODELS = {
    "first": ModelSettings(labels=LABELS, seed=1, window=600.0),
    "sums": ModelSettings(
        learner="AdaBandit",
        labels=LABELS,
        parameters={"n_learners": 5},
        seed=2,
        window=0.2,
        counting="sum",
        silence="wrong",
    ),
}
AT_ONCE = 16
SNAPSHOT_EVERY = 400
NEVER = 1e9


def digest_of(file: bytes) -> str:
    """Of a model's arrays and all of its header but the names of files' writers."""
    read: Contents = read_from(io.BytesIO(file), len(file))
    found = hashlib.sha256(
        repr(sorted((k, str(v)) for k, v in read.header.items() if k != "versions")).encode()
    )
    for name, array in read.arrays.items():
        found.update(name.encode() + array.tobytes())
    return found.hexdigest()


def tell(*told: Any) -> None:
    """A line that outlives this process once it is written."""
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    sys.stdout.flush()


async def ask_for_ever(service: SoloService, draw: random.Random) -> None:
    """Decide, judge, and do it again where a client would, and where it should not."""
    while True:
        name = draw.choice(list(MODELS))
        row = {"hour": draw.randrange(24), "word": draw.choice(["tea", "milk", "juice"])}
        request = DecisionRequest(
            features=msgspec.json.encode(row),
            id=f"{draw.getrandbits(64):016x}" if draw.random() < 0.5 else None,
            deferred=draw.random() < 0.2,
        )
        answers = await service.decide(name, [request] * (2 if request.id and draw.random() < 0.3 else 1))
        for answer in answers:
            assert isinstance(answer, DecisionAnswer), answer
            tell("decided", name, answer.id, answer.label, answer.probability, answer.expires)
        await judge(service, draw, name, answer)


async def tick_for_ever(service: SoloService) -> None:
    """End windows, from when the models that were read are told."""
    while True:
        await service.tick()
        await asyncio.sleep(0.02)


async def judge(service: SoloService, draw: random.Random, name: str, decision: DecisionAnswer) -> None:
    """Some verdicts are doubled, some never come."""
    if decision.deferred and draw.random() < 0.7:
        for told in await service.activate(name, [decision.id]):
            tell("activated", name, decision.id, getattr(told, "outcome", None))
    if draw.random() < 0.15:
        return
    verdict = VerdictRequest(id=decision.id, correct=decision.label == "green")
    for told in await service.judge(name, [verdict] * draw.choice([1, 1, 2])):
        assert isinstance(told, VerdictAnswer), told
        tell("judged", name, decision.id, told.outcome)


async def main(folder: Path, seed: int) -> None:
    begun = time.perf_counter()
    service = SoloService(
        ServiceSettings(models=MODELS, snapshot_every=SNAPSHOT_EVERY), SQLiteStore(folder), tick=NEVER
    )
    await service.start()
    for name in MODELS:
        info = await service.show(name)
        served = service._residents.get(name)
        assert served is not None
        tell("model", name, info.events, served.n, digest_of(making.packed(served.model, name)))
    tell("ready", time.perf_counter() - begun)
    draw = random.Random(seed)
    asking = [ask_for_ever(service, random.Random(draw.random())) for _ in range(AT_ONCE)]
    await asyncio.gather(*asking, tick_for_ever(service))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
