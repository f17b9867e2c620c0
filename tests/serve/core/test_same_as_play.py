"""A stream that goes through the service ends in the model that `play` gives, to the last bit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from banditboost import play
from banditboost.serve import making
from banditboost.serve.messages import VerdictRequest
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, asked, decided, judged, raised, serve

LEARNERS = ["GapBoost", "OptBandit", "AdaBandit", "MixBandit", "EpsilonGreedyForest"]


def stream(n: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows with numbers, names, words and gaps, and what is right."""
    draw = np.random.default_rng(11)
    rows: list[dict[str, Any]] = []
    right = []
    for t in range(n):
        row: dict[str, Any] = {"hour": int(draw.integers(24)), "device": str(draw.choice(["phone", "desk"]))}
        if t > n // 3:
            row["score"] = None if t % 7 == 0 else float(draw.normal())
        rows.append(row)
        right.append(LABELS[(row["hour"] > 12) + (row["device"] == "phone")])
    return rows, right


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_ends_in_the_model_of_play(tmp_path: Path, learner: str) -> None:
    rows, right = stream(300)
    settings = ModelSettings(learner=learner, labels=LABELS, seed=9)

    async def use(service: SoloService) -> bytes:
        await service.create("m", settings)
        for t, (row, label) in enumerate(zip(rows, right, strict=True)):
            answer = await decided(service, "m", row)
            assert await judged(service, "m", answer.id, correct=answer.label == label) == "learned"
            if t == 150:
                service._residents.clear()  # it comes back from its log
        return await service.download("m")

    model = making.make(settings)
    play(model, rows, right)
    file = serve(tmp_path, use)
    assert differing(file, making.packed(model, "m")) == []
    again = serve(tmp_path, lambda service: service.download("m"), ServiceSettings())
    assert again == file


def test_rewards_and_options_end_in_the_model_of_play(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    shop = {f"tea {i}": {"price": i / 3, "hot": i % 2 == 0} for i in range(5)}
    contexts = [{"hour": int(hour)} for hour in draw.integers(24, size=120)]
    offers = [{id_: shop[id_] for id_ in sorted(draw.choice(list(shop), 3, replace=False))} for _ in contexts]
    earned = [{id_: float(draw.random()) for id_ in offer} for offer in offers]
    settings = ModelSettings(learner="OptionBoost", seed=4, rewards=(0.0, 2.0))

    async def use(service: SoloService) -> bytes:
        await service.create("m", settings)
        for t, (x, offer, reward) in enumerate(zip(contexts, offers, earned, strict=True)):
            answer = await decided(service, "m", x, options=msgspec.json.encode(offer))
            if t == 60:
                service._residents.clear()
            await judged(service, "m", answer.id, reward=reward[answer.label])
        return await service.download("m")

    model = making.make(settings)
    play(model, contexts, options=offers, rewards=earned)
    assert differing(serve(tmp_path, use), making.packed(model, "m")) == []


def test_what_comes_at_once_is_decided_and_learned_in_the_order_of_the_log(tmp_path: Path) -> None:
    rows, _ = stream(120)
    settings = ModelSettings(labels=LABELS, seed=9)

    async def pair(service: SoloService, row: Any) -> None:
        [answer] = await service.decide("m", [asked(row)])
        await service.judge("m", [VerdictRequest(id=raised(answer).id, correct=True)])

    async def use(service: SoloService) -> bytes:
        await service.create("m", settings)
        await asyncio.gather(*(pair(service, row) for row in rows))
        file = await service.download("m")
        service._residents.clear()
        assert await service.download("m") == file
        return file

    file = serve(tmp_path, use)
    assert serve(tmp_path, lambda service: service.download("m")) == file
