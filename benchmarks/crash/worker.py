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
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.shared.service import SharedService
from banditboost.serve.solo import SoloService
from banditboost.serve.store.postgres import PostgresStore
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


async def ask_for_ever(service: Service, draw: random.Random) -> None:
    """Ask again and again; what the database could not do for now is left."""
    while True:
        try:
            await ask(service, draw)
        except ServiceError as error:
            await refused(error)


async def refused(error: ServiceError) -> None:
    """Tell it, and wait; a refusal of any other kind is a fault."""
    assert error.status == 503, error
    tell("refused", error.code)
    await asyncio.sleep(0.05)


async def ask(service: Service, draw: random.Random) -> None:
    """Decide, judge, and do it again where a client would, and where it should not."""
    name = draw.choice(list(MODELS))
    row = {"hour": draw.randrange(24), "word": draw.choice(["tea", "milk", "juice"])}
    request = DecisionRequest(
        features=msgspec.json.encode(row),
        id=f"{draw.getrandbits(64):016x}" if draw.random() < 0.5 else None,
        deferred=draw.random() < 0.2,
    )
    answers = await service.decide(name, [request] * (2 if request.id and draw.random() < 0.3 else 1))
    for answer in answers:
        if isinstance(answer, ServiceError):
            raise answer
        tell("decided", name, answer.id, answer.label, answer.probability, answer.expires)
    await judge(service, draw, name, answer)


async def tick_for_ever(service: SoloService) -> None:
    """End windows, from when the models that were read are told."""
    while True:
        await service.tick()
        await asyncio.sleep(0.02)


async def judge(service: Service, draw: random.Random, name: str, decision: DecisionAnswer) -> None:
    """Some verdicts are doubled, some never come."""
    if decision.deferred and draw.random() < 0.7:
        for told in await service.activate(name, [decision.id]):
            tell("activated", name, decision.id, getattr(told, "outcome", None))
    if draw.random() < 0.15:
        return
    verdict = VerdictRequest(id=decision.id, correct=decision.label == "green")
    for told in await service.judge(name, [verdict] * draw.choice([1, 1, 2])):
        if isinstance(told, ServiceError):
            raise told
        tell("judged", name, decision.id, told.outcome)


async def main(store: str, seed: int) -> None:
    """Serve alone where the store is a folder, and beside others where it is a database."""
    begun, draw = time.perf_counter(), random.Random(seed)
    settings = ServiceSettings(models=MODELS, snapshot_every=SNAPSHOT_EVERY)
    if store.startswith("postgresql://"):
        beside = SharedService(settings, PostgresStore(store))
        await beside.start()
        tell("ready", time.perf_counter() - begun)
        await load(beside, draw)
    service = SoloService(settings, SQLiteStore(Path(store)), tick=NEVER)
    await service.start()
    for name in MODELS:
        info = await service.show(name)
        served = service._residents.get(name)
        assert served is not None
        tell("model", name, info.events, served.n, digest_of(making.packed(served.model, name)))
    tell("ready", time.perf_counter() - begun)
    await asyncio.gather(load(service, draw), tick_for_ever(service))


async def load(service: Service, draw: random.Random) -> None:
    """Many at once."""
    await asyncio.gather(*(ask_for_ever(service, random.Random(draw.random())) for _ in range(AT_ONCE)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
