"""Whatever is retried, doubled, reordered, crashed or restarted: the service does what a slow one does."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from banditboost.serve import making
from banditboost.serve.clock import Clock
from banditboost.serve.course import Course
from banditboost.serve.events import Judged
from banditboost.serve.messages import DecisionAnswer, VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from banditboost.serve.verdicts import outcome_of
from banditboost.serve.windows import OpenDecision
from tests.naive.service import NaiveService
from tests.serve.core.files import differing
from tests.serve.core.running import LABELS, asked, raised

IDS = st.sampled_from([f"id {i}" for i in range(6)])
CONTENTS = st.sampled_from(["a", "b"])
REWARDS = st.sampled_from([0.0, 0.25, 0.75, 1.0])
NAMES = st.none() | st.sampled_from(["first", "second"])
NEVER = 1e9


class ServiceAndTwin(RuleBasedStateMachine):
    """Both are told the same."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.now = 1_000.0
        self.settings = ModelSettings(labels=LABELS, seed=5, window=10.0, silence_reward=0.5)
        self.twin = NaiveService(window=10.0)
        self.begin()
        self.run(self.service.create("m", self.settings))

    def run(self, work: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(work)

    def begin(self) -> None:
        store = SQLiteStore(self.folder, "normal")
        settings = ServiceSettings(snapshot_every=7)
        self.service = SoloService(settings, store, Clock(lambda: self.now), tick=NEVER)
        self.run(self.service.start())

    def teardown(self) -> None:
        self.run(self.service.stop())
        self.begin()
        file = self.run(self.service.download("m"))
        model = self.model_of_the_twin()
        assert differing(file, making.packed(model, "m")) == []
        self.run(self.service.stop())
        self.loop.close()
        shutil.rmtree(self.folder)

    def model_of_the_twin(self) -> Any:
        """A model that does what the twin has noted."""
        model = making.make(self.settings)
        decisions: list[Any] = []
        for what, *told in self.twin.work:
            if what == "decide":
                decisions.append(model.decide({"word": told[0]}))
            elif what == "learn":
                model.learn(decisions[told[0]], reward=told[1])
            else:
                model = making.make(self.settings)
        return model

    @rule(id_=IDS, content=CONTENTS, deferred=st.booleans())
    def decide(self, id_: str, content: str, deferred: bool) -> None:
        expected = self.twin.decide(id_, content, deferred, self.now)
        request = asked({"word": content}, id=id_, deferred=deferred)
        [answer] = self.run(self.service.decide("m", [request]))
        if expected == "refused":
            assert isinstance(answer, ServiceError)
            assert answer.status == 409
        else:
            assert raised(answer).repeated == (expected == "repeated")

    @rule(ids=st.lists(IDS, min_size=1, max_size=4), content=CONTENTS)
    def decide_at_once(self, ids: list[str], content: str) -> None:
        """Several connections ask at the same time."""
        expected = [self.twin.decide(id_, content, False, self.now) for id_ in ids]

        async def ask() -> list[Any]:
            calls = [self.service.decide("m", [asked({"word": content}, id=id_)]) for id_ in ids]
            return [answer for (answer,) in await asyncio.gather(*calls)]

        answers = self.run(ask())
        found = [
            "refused" if isinstance(a, ServiceError) else "repeated" if a.repeated else "new" for a in answers
        ]
        assert found == expected

    @rule(id_=IDS, reward=REWARDS, once=NAMES)
    def judge(self, id_: str, reward: float, once: str | None) -> None:
        expected = self.twin.judge(id_, reward, once, self.now)
        [answer] = self.run(self.service.judge("m", [VerdictRequest(id=id_, reward=reward, once=once)]))
        assert raised(answer).outcome == expected

    @rule(id_=IDS, verdicts=st.lists(st.booleans(), min_size=2, max_size=3))
    def judge_at_once(self, id_: str, verdicts: list[bool]) -> None:
        expected = [self.twin.judge(id_, float(correct), None, self.now) for correct in verdicts]

        async def tell() -> list[Any]:
            calls = [
                self.service.judge("m", [VerdictRequest(id=id_, correct=correct)]) for correct in verdicts
            ]
            return [raised(answer).outcome for (answer,) in await asyncio.gather(*calls)]

        assert self.run(tell()) == expected

    @rule(id_=IDS)
    def activate(self, id_: str) -> None:
        expected = self.twin.activate(id_, self.now)
        [answer] = self.run(self.service.activate("m", [id_]))
        assert raised(answer).outcome == expected

    @rule(seconds=st.sampled_from([0.5, 5.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def tick(self) -> None:
        self.twin.tick(self.now)
        self.run(self.service.tick())

    @rule(window=st.sampled_from([2.0, 10.0, 30.0]))
    def change_window(self, window: float) -> None:
        self.twin.window = window
        self.run(self.service.change("m", {"window": window}))

    @rule(counting=st.sampled_from(["first", "sum"]), silence=st.sampled_from(["nothing", "wrong", "reward"]))
    def change_rules(self, counting: str, silence: str) -> None:
        self.twin.counting, self.twin.silence = counting, silence
        self.run(self.service.change("m", {"counting": counting, "silence": silence}))

    @rule()
    def reset(self) -> None:
        self.twin.reset()
        self.run(self.service.reset("m"))

    @rule()
    def restart(self) -> None:
        self.run(self.service.stop())
        self.begin()

    @rule()
    def crash(self) -> None:
        """What is in memory is gone."""
        self.service._ticking.cancel()
        self.run(self.service._committer.stop())
        self.service._store.close()
        self.begin()

    @rule()
    def forget(self) -> None:
        """As when idle models are put away."""
        self.service._residents.clear()

    @invariant()
    def as_many_are_open(self) -> None:
        assert self.run(self.service.show("m")).open == self.twin.n_open


ServiceAndTwin.TestCase.settings = hypothesis_settings(max_examples=25, stateful_step_count=25)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
class TestServiceAndTwin(ServiceAndTwin.TestCase):  # type: ignore[misc, name-defined, valid-type]
    """Found by pytest."""


class Compared(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def test_names_of_verdicts_are_found_without_looking_at_all_of_them() -> None:
    """Of one decision there may be as many as somebody likes to send."""
    settings = ModelSettings(labels=LABELS, counting="sum")
    answer = DecisionAnswer(
        id="x",
        label="red",
        probability=1.0,
        explored=False,
        arm="model",
        version="v",
        deferred=False,
        expires=9.0,
    )
    course, one = Course(settings, Limits(), lambda _: ()), OpenDecision(answer, 0.0, 9.0, 0)
    for n in range(1000):
        course._hear(one, Judged("x", 0.5, "added", f"name {n}"))
    Compared.times = 0
    assert outcome_of(one, 1.0, settings, Compared("name 999")) == "duplicate"
    assert outcome_of(one, 1.0, settings, Compared("name 1000")) == "added"
    assert Compared.times < 10
