"""How far a log has come, and which of its decisions are open: what decisions, verdicts, activations and the
ends of windows do to that, whatever the model is.

Nothing here waits, reads a clock or writes to a disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import msgspec

from banditboost.errors import BanditBoostError
from banditboost.rewards import share_told
from banditboost.serve import verdicts
from banditboost.serve.arms import assigned
from banditboost.serve.choosing import Chosen
from banditboost.serve.events import (
    Activated,
    AnyEvent,
    Closed,
    Decided,
    Judged,
    Replaced,
    Settled,
    chained,
    encode,
    key_of,
)
from banditboost.serve.inputs import content_of
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, Place, VerdictAnswer, VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.store.base import StoredEvent
from banditboost.serve.windows import OpenDecision, OpenDecisions


class Course:
    """The course of one log.

    Args:
        settings: as they are now.
        limits: of the service.
        history: finds the events about a decision that are on disk, if it is not open.
    """

    def __init__(
        self, settings: ModelSettings, limits: Limits, history: Callable[[str], Sequence[AnyEvent]]
    ) -> None:
        self.settings, self.limits, self._history = settings, limits, history
        self.n, self.chain, self.at = 0, 0, 0.0
        self.open = OpenDecisions()
        self.fresh: list[StoredEvent] = []
        """Events that nobody has taken to the store yet."""
        self.finished: list[str] = []
        """Decisions that are done, and can be forgotten when these events are on disk."""

    # Decisions

    def decided_before(self, id_: str, content: int) -> DecisionAnswer | None:
        """The answer that this id was given; a ServiceError if it was given to another question."""
        if not 0 < len(id_) <= self.limits.id:
            raise ServiceError(
                422,
                "bad-id",
                f"id has {len(id_)} characters; give 1 to {self.limits.id}, or none",
                field="id",
            )
        known = self.open.get(id_)
        if known is not None:
            answer, before = known.answer, known.content
        else:
            decided = next((event for event in self._history(id_) if isinstance(event, Decided)), None)
            if decided is None:
                return None
            answer, before = answer_of(decided), content_of(request_of(decided))
        if content != before:
            raise ServiceError(
                409,
                "other-content",
                "id names a decision with other features, options or allowed labels; give each decision an "
                "id of its own",
                field="id",
            )
        return msgspec.structs.replace(answer, repeated=True)

    def refuse_more(self) -> None:
        """A ServiceError if no more decisions can be open."""
        refuse_more(len(self.open), self.settings, self.limits)

    def decided(
        self, id_: str, request: DecisionRequest, chosen: Chosen, version: str, now: float
    ) -> DecisionAnswer:
        """Write down what is shown; `version` is of the model that has chosen."""
        at = max(now, self.at)
        answer = DecisionAnswer(
            id=id_,
            label=chosen.label,
            probability=chosen.probability,
            explored=chosen.explored,
            arm=chosen.arm,
            version=version,
            deferred=request.deferred,
            expires=at + self.settings.window,
            ranking=chosen.ranking,
        )
        self._log(_event_of(answer, request, chosen.made), at)
        self._keep(answer, request, chosen)
        return answer

    def _keep(self, answer: DecisionAnswer, request: DecisionRequest, chosen: Chosen | None) -> None:
        one = OpenDecision(answer, self.at, self.settings.window, content_of(request))
        one.assigned = assigned(self.settings, answer.arm)
        if chosen is not None:
            one.choices = chosen.choices
        if chosen is not None and chosen.decision is not None:
            one.decision = chosen.decision._for_a_store()
        elif chosen is not None and chosen.made:
            one.made = chosen.made
        else:
            one.asked = what_is_learned_of(request)
        self.open.add(one)

    # Verdicts

    def judge(self, request: VerdictRequest, now: float) -> VerdictAnswer:
        """Do with a verdict what the settings say."""
        reward = self._reward(request)
        one, at = self.open.get(request.id), max(now, self.at)
        if one is None:
            outcome = verdicts.outcome_of_past(self._history(self._checked_id(request.id)))
        else:
            outcome = verdicts.outcome_of(one, at, self.settings, self._name(request))
            self.at = at
            if outcome == "learned" and not self._teach(one, reward):
                outcome = "logged"
        event = Judged(request.id, reward, outcome, request.once or "")
        self._log(event, at, one, reward if outcome == "learned" else None)
        if one is not None:
            self._hear(one, event)
        return VerdictAnswer(id=request.id, outcome=outcome)

    def _name(self, request: VerdictRequest) -> str | None:
        """Of a verdict, if it has one."""
        if request.once is not None and not 0 < len(request.once) <= self.limits.id:
            raise ServiceError(
                422,
                "bad-id",
                f"once has {len(request.once)} characters; give 1 to {self.limits.id}, or none",
                field="once",
            )
        return request.once

    def _reward(self, request: VerdictRequest) -> float:
        low, high = self.settings.rewards
        if request.reward is None and type(request.correct) is bool:
            return high if request.correct else low
        try:
            share_told(request.correct, request.reward, (low, high))
        except BanditBoostError as error:
            field = "correct" if request.reward is None else "reward"
            raise ServiceError(422, "bad-reward", str(error), field=field) from None
        assert request.reward is not None
        return float(request.reward)

    def _checked_id(self, id_: str) -> str:
        if not 0 < len(id_) <= self.limits.id:
            raise ServiceError(
                422, "bad-id", f"id has {len(id_)} characters; give 1 to {self.limits.id}", field="id"
            )
        return id_

    def _teach(self, one: OpenDecision, reward: float) -> bool:  # noqa: ARG002 (a course has no model)
        """Let the model learn what a decision has earned; False if it cannot."""
        return True

    def _hear(self, one: OpenDecision, event: Judged) -> None:
        if event.outcome in verdicts.COUNTED:
            self._finish(one, "duplicate")
        elif event.outcome in ("added", "held"):
            one.heard += 1
            one.sum += event.reward
            if event.once:
                one.names[event.once] = None

    def activate(self, id_: str, now: float) -> VerdictAnswer:
        """A deferred decision was shown."""
        at, one = max(now, self.at), self.open.get(id_)
        if one is None:
            return VerdictAnswer(
                id=id_, outcome=verdicts.outcome_of_past(self._history(self._checked_id(id_)))
            )
        outcome = verdicts.activated(one, at, self.settings)
        if outcome in ("duplicate", "late"):
            return VerdictAnswer(id=id_, outcome=outcome)
        self.at = at
        if outcome == "learned" and not self._teach(one, one.sum):
            outcome = "logged"
        self._log(Activated(id_, outcome), at, one, one.sum if outcome == "learned" else None)
        self._show(one, outcome)
        return VerdictAnswer(id=id_, outcome=outcome)

    def _show(self, one: OpenDecision, outcome: str) -> None:
        one.waiting = False
        if outcome in verdicts.COUNTED:
            self._finish(one, "duplicate")

    def end_windows(self, now: float, most: int = 1_000) -> bool:
        """Close decisions whose window has ended, so many at most; False if none is left."""
        at = max(now, self.at)
        ended = self.open.ended(at, most)
        for one in ended:
            self._close(one, at)
        return len(ended) == most

    def end_window(self, id_: str, now: float) -> None:
        """Close this decision, if its window has ended and it is not done."""
        at, one = max(now, self.at), self.open.get(id_)
        if one is not None and one.done is None and one.answer.expires < at:
            self._close(one, at)

    def _close(self, one: OpenDecision, at: float) -> None:
        self.at = at
        reward = verdicts.earned(one, self.settings)
        if reward is not None and not self._teach(one, reward):
            reward = None
        self._log(Closed(one.answer.id, reward), at, one, reward)
        self._finish(one, "late")

    def _finish(self, one: OpenDecision, answer: str) -> None:
        self.open.finish(one, answer)
        self.finished.append(one.answer.id)

    def forget(self, ids: Sequence[str]) -> None:
        """What has finished these decisions is on disk."""
        for id_ in ids:
            self.open.forget(id_)

    def _finish_all(self) -> None:
        for one in list(self.open):
            self._finish(one, "late")

    # Settings

    def settle(self, settings: ModelSettings, now: float) -> None:
        """From now on these are the settings."""
        self._take_settings(settings)
        self._log(Settled(msgspec.to_builtins(settings)), max(now, self.at))

    def _take_settings(self, settings: ModelSettings) -> None:
        self.settings = settings

    def replaced(self, why: str, settings: ModelSettings, now: float) -> None:
        """From now on the model is another one, and verdicts on what was decided before come late."""
        self._log(Replaced(why, msgspec.to_builtins(settings)), max(now, self.at))
        self._finish_all()
        self.settings = settings

    # The log

    def _log(
        self, event: AnyEvent, at: float, one: OpenDecision | None = None, learned: float | None = None
    ) -> None:
        """Write down an event; the decision that it is about is `one`, and the reward that is learned with it
        `learned`.
        """
        body = encode(event)
        self.n += 1
        self.at = at
        self.chain = chained(self.chain, self.n, at, body)
        self.fresh.append(StoredEvent(self.n, key_of(event), at, self.chain, body))
        self._note(event, one, learned)

    def _note(self, event: AnyEvent, one: OpenDecision | None, learned: float | None) -> None:
        """Tell those who count."""

    def take(self) -> tuple[list[StoredEvent], list[str]]:
        """The events that are to be written, and the decisions to be forgotten after that."""
        taken = self.fresh, self.finished
        self.fresh, self.finished = [], []
        return taken

    # Of the past

    def outdate(self, id_: str) -> None:
        """The model was replaced after this decision."""
        one = self.open.get(id_)
        if one is not None and one.done is None:
            self._finish(one, "late")

    def decided_again(self, event: Decided, chosen: Chosen | None = None) -> None:
        """A decision that the log tells; `chosen` is what it was learned by, if it is to be learned."""
        self._keep(answer_of(event), request_of(event), chosen)

    def hear_again(self, event: Judged | Activated | Closed) -> None:
        """What the log tells of a decision."""
        one = self.open.get(event.id)
        learned = None if one is None else _learned(event, one)
        if one is not None and learned is not None:
            self._teach_again(one, learned)
        self._note(event, one, learned)
        if one is None:
            return
        if isinstance(event, Closed):
            self._finish(one, "late")
        elif isinstance(event, Activated):
            self._show(one, event.outcome)
        else:
            self._hear(one, event)

    def _teach_again(self, one: OpenDecision, reward: float) -> None:
        """Let the model learn what it has learned before."""


def _learned(event: Judged | Activated | Closed, one: OpenDecision) -> float | None:
    """The reward that the model learns with an event, if it learns one."""
    if isinstance(event, Closed):
        return event.reward
    if event.outcome != "learned":
        return None
    return event.reward if isinstance(event, Judged) else one.sum


def refuse_more(n_open: int, settings: ModelSettings, limits: Limits) -> None:
    """A ServiceError if no more than these decisions can be open."""
    if n_open >= limits.open:
        raise ServiceError(
            503,
            "too-many-open",
            f"{limits.open} decisions of this model wait for a verdict; tell verdicts, or give a shorter "
            "window",
            retry_after=settings.window,
        )


def new_id(now: float) -> str:
    """32 hexadecimal digits, of which 20 are drawn by lot; later ones come behind earlier ones, so that what
    a store keeps of them lies close together.
    """
    return f"{int(now * 1000) & 0xFFFFFFFFFFFF:012x}{os.urandom(10).hex()}"


def _event_of(answer: DecisionAnswer, request: DecisionRequest, made: bytes | None) -> Decided:
    return Decided(
        answer.id,
        request.features,
        request.options,
        request.allowed,
        answer.arm,
        answer.label,
        answer.probability,
        answer.explored,
        answer.deferred,
        answer.expires,
        answer.version,
        [(place.label, place.probability) for place in answer.ranking],
        made,
    )


def answer_of(event: Decided) -> DecisionAnswer:
    """What was answered."""
    return DecisionAnswer(
        id=event.id,
        label=event.label,
        probability=event.probability,
        explored=event.explored,
        arm=event.arm,  # type: ignore[arg-type]
        version=event.version,
        deferred=event.deferred,
        expires=event.expires,
        ranking=[Place(*place) for place in event.ranking],
    )


def what_is_learned_of(request: DecisionRequest) -> DecisionRequest:
    """The same, whether it is kept when it is asked or made again from the log."""
    return DecisionRequest(features=request.features, options=request.options, allowed=request.allowed)


def request_of(event: Decided) -> DecisionRequest:
    """What was asked."""
    return DecisionRequest(
        features=event.features,
        options=event.options,
        allowed=event.allowed,
        id=event.id,
        deferred=event.deferred,
    )
