"""Multi-slot: slots are filled one after the other, each with one of the actions that are left.

A slot is a decision of its own, called `EVENT#SLOT`, in a context that has the slot's features, too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from banditboost.serve.http.personalizer.features import read_context, read_features
from banditboost.serve.http.personalizer.question import Question, answered, done, only
from banditboost.serve.http.personalizer.rank import RankableAction, ids_of
from banditboost.serve.http.personalizer.reading import (
    MOST_CHARACTERS,
    SHAPE,
    Body,
    check_id,
    check_reward,
    refused,
)
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import DecisionRequest, VerdictRequest
from banditboost.text import quoted

MOST_SLOTS = 50


class SlotRequest(Body, frozen=True):
    """A place that is to be filled."""

    id: str
    baseline_action: str
    features: list[Any] | None = None
    excluded_actions: list[str] | None = None


class MultiSlotRankRequest(Body, frozen=True):
    """What a client asks for."""

    actions: list[RankableAction]
    slots: list[SlotRequest]
    context_features: list[Any] | None = None
    event_id: str | None = None
    defer_activation: bool | None = None


class SlotReward(Body, frozen=True):
    """What a slot has earned."""

    slot_id: str
    value: float


class MultiSlotRewardRequest(Body, frozen=True):
    """What slots have earned."""

    reward: list[SlotReward]


_request = msgspec.json.Decoder(MultiSlotRankRequest)
_rewards = msgspec.json.Decoder(MultiSlotRewardRequest)


class Slots:
    """The slots of a request, which are asked for one after the other."""

    def __init__(self, request: MultiSlotRankRequest, deepest: int) -> None:
        self._slots, self._left = request.slots, ids_of(request.actions)
        check_slots(self._slots, self._left)
        self.event_id = request.event_id or str(uuid.uuid4())
        self._ids = [
            decision_id(self.event_id, slot.id, f"slots[{place}].id")
            for place, slot in enumerate(self._slots)
        ]
        self._context = request.context_features or []
        self._deepest = deepest
        self._options = {
            action.id: read_features(action.features, f"actions[{place}].features", deepest)
            for place, action in enumerate(request.actions)
        }
        self._contexts = [self._context_of(place) for place in range(len(self._slots))]

    def _context_of(self, place: int) -> bytes:
        slot = self._slots[place]
        features = read_features(slot.features or (), f"slots[{place}].features", self._deepest)
        own = {"slot": {"id": slot.id}}, {"slot": features}
        return msgspec.json.encode(read_context([*self._context, *own], "contextFeatures", self._deepest))

    def asked(self) -> Iterator[DecisionRequest]:
        """The decision of each slot, among what is left by then."""
        for slot, id_, features in zip(self._slots, self._ids, self._contexts, strict=True):
            excluded = slot.excluded_actions or ()
            left = sorted(
                self._left, key=lambda action: action != slot.baseline_action
            )  # this one is the first
            allowed = [action for action in left if action not in excluded]
            yield DecisionRequest(
                features=features,
                options=msgspec.json.encode({action: self._options[action] for action in left}),
                allowed=None if len(allowed) == len(left) else list(allowed),
                id=id_,
                baseline=allowed[0],
            )

    def take(self, action: str) -> None:
        """An action is shown, and not left for other slots."""
        self._left = [one for one in self._left if one != action]


async def rank(question: Question) -> Response:
    """Fill the slots."""
    request = decoded(_request, await question.body(), remedy=SHAPE)
    if request.defer_activation:
        raise refused("deferActivation", "is true; give false: slots cannot be activated later")
    slots, filled = Slots(request, question.service.settings.limits.depth), []
    for slot, decision in zip(request.slots, slots.asked(), strict=True):
        action = str(only(await _decide(question, decision)).label)
        slots.take(action)
        filled.append({"id": slot.id, "rewardActionId": action})
    return answered({"slots": filled, "eventId": slots.event_id}, 201)


async def _decide(question: Question, decision: DecisionRequest) -> Any:
    return await question.ask(lambda: question.service.decide(question.name, [decision]))


async def reward(question: Question) -> Response:
    """Tell what slots have earned."""
    event_id = check_id(question.request.path_params["event_id"], "eventId")
    told = decoded(_rewards, await question.body(), remedy=SHAPE).reward
    verdicts = [
        VerdictRequest(
            id=decision_id(event_id, one.slot_id, f"reward[{place}].slotId"),
            reward=check_reward(one.value, f"reward[{place}].value"),
            once=question.once(one.value),
        )
        for place, one in enumerate(told)
    ]
    for answer in await question.ask(lambda: question.service.judge(question.name, verdicts)):
        only([answer])
    return done()


async def activate(question: Question) -> Response:
    """Slots count from Rank on: there is nothing to be activated."""
    check_id(question.request.path_params["event_id"], "eventId")
    return done()


def decision_id(event_id: str, slot_id: str, field: str) -> str:
    """What the decision of a slot is called."""
    id_ = f"{check_id(event_id, 'eventId')}#{check_id(slot_id, field)}"
    if len(id_) > MOST_CHARACTERS:
        raise refused(
            "eventId",
            f"and the id of a slot have {len(id_) - 1} characters; give {MOST_CHARACTERS - 1} at most",
        )
    return id_


def check_slots(slots: Sequence[SlotRequest], actions: Sequence[str]) -> None:
    """Each slot once, with a baseline of its own, and never without an action that is left."""
    if not 1 <= len(slots) <= MOST_SLOTS:
        raise refused("slots", f"are {len(slots)}; give 1 to {MOST_SLOTS}")
    baselines: set[str] = set()
    ids: set[str] = set()
    for place, slot in enumerate(slots):
        at, excluded, own = f"slots[{place}]", set(slot.excluded_actions or ()), slot.baseline_action
        if slot.id in ids:
            raise refused(f"{at}.id", f"is {quoted(slot.id)}, as that of another slot; give each its own")
        if own not in actions or own in excluded or own in baselines:
            raise refused(
                f"{at}.baselineAction",
                f"is {quoted(own)}; give an action that the slot does not exclude, and each slot another one",
            )
        if sum(action not in excluded for action in actions) <= place:
            raise refused(
                f"{at}.excludedActions",
                "may leave nothing to show after the slots before; exclude fewer, or put it before",
            )
        ids.add(slot.id)
        baselines.add(own)
