"""The plain way: create, decide, judge, stop, and go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import ModelSettings
from banditboost.serve.solo import SoloService
from tests.serve.core.running import LABELS, decided, judged, serve


def test_a_service_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async def first(service: SoloService) -> tuple[bytes, str]:
        await service.create("shop", ModelSettings(labels=LABELS, seed=3))
        for hour in range(40):
            answer = await decided(service, "shop", {"hour": hour % 24, "device": "phone"})
            assert await judged(service, "shop", answer.id, correct=answer.label == "green") == "learned"
        waiting = await decided(service, "shop", {"hour": 3})
        return await service.download("shop"), waiting.id

    async def second(service: SoloService) -> tuple[bytes, str]:
        file = await service.download("shop")
        return file, await judged(service, "shop", before[1], reward=0.25)

    before = serve(tmp_path, first)
    assert serve(tmp_path, second) == (before[0], "learned")


def test_the_same_id_has_the_same_answer_and_other_content_is_refused(tmp_path: Path) -> None:
    async def use(service: SoloService) -> None:
        await service.create("shop", ModelSettings(labels=LABELS, seed=3))
        first = await decided(service, "shop", {"hour": 1}, id="a")
        again = await decided(service, "shop", {"hour": 1}, id="a")
        assert (first.repeated, again.repeated) == (False, True)
        assert (first.label, first.probability, first.expires) == (
            again.label,
            again.probability,
            again.expires,
        )
        assert await judged(service, "shop", "a", correct=True) == "learned"
        assert await judged(service, "shop", "a", correct=True) == "duplicate"
        assert await judged(service, "shop", "b", correct=True) == "unknown"
        with pytest.raises(ServiceError) as refused:
            await decided(service, "shop", {"hour": 2}, id="a")
        assert refused.value.status == 409
        assert (await service.show("shop")).verdicts == 1

    serve(tmp_path, use)
