"""Rank: a request of Personalizer as a decision among options, and what was decided as its answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from banditboost.serve.http.personalizer.features import read_context, read_features
from banditboost.serve.http.personalizer.reading import SHAPE, Body, check_id, refused
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, Place
from banditboost.text import quoted

MOST_ACTIONS = 50


class RankableAction(Body, frozen=True):
    id: str
    features: list[Any] = msgspec.field(default_factory=list)


class RankRequest(Body, frozen=True):
    """What a client sends."""

    actions: list[RankableAction]
    context_features: list[Any] | None = None
    excluded_actions: list[str] | None = None
    event_id: str | None = None
    defer_activation: bool | None = None


_request = msgspec.json.Decoder(RankRequest)


class RankedAction(msgspec.Struct, frozen=True):
    id: str
    probability: float


class RankResponse(msgspec.Struct, frozen=True, rename="camel"):
    """What a client gets."""

    ranking: list[RankedAction]
    event_id: str
    reward_action_id: str


class Asked(msgspec.Struct, frozen=True):
    """A Rank request as the service takes it, and what its answer needs."""

    decision: DecisionRequest
    actions: list[str]  # in the order of the request
    excluded: frozenset[str]


def read_rank(body: bytes, deepest: int) -> Asked:
    """The decision that a body asks for.

    Args:
        body: JSON of a RankRequest.
        deepest: how many objects with features may stand in each other.
    """
    request = decoded(_request, body, remedy=SHAPE)
    actions = ids_of(request.actions)
    excluded = frozenset(request.excluded_actions or ())
    allowed = [id_ for id_ in actions if id_ not in excluded]
    if not allowed:
        raise refused("excludedActions", "are all actions; leave one to choose")
    options = {
        action.id: read_features(action.features, f"actions[{place}].features", deepest)
        for place, action in enumerate(request.actions)
    }
    context = read_context(request.context_features or (), "contextFeatures", deepest)
    decision = DecisionRequest(
        features=msgspec.json.encode(context),
        options=msgspec.json.encode(options),
        allowed=None if len(allowed) == len(actions) else list(allowed),
        id=check_id(request.event_id, "eventId") if request.event_id else None,
        deferred=bool(request.defer_activation),
        baseline=allowed[0],
        ranking=-1,
    )
    return Asked(decision, actions, excluded)


def ids_of(actions: list[RankableAction]) -> list[str]:
    """The ids of 1 to 50 actions, each of which is there once."""
    if not 1 <= len(actions) <= MOST_ACTIONS:
        raise refused("actions", f"are {len(actions)}; give 1 to {MOST_ACTIONS}")
    ids = [check_id(action.id, f"actions[{place}].id") for place, action in enumerate(actions)]
    id_, times = Counter(ids).most_common(1)[0]
    if times > 1:
        raise refused("actions", f"have the id {quoted(id_)} {times} times; give each action once")
    return ids


def told(asked: Asked, answer: DecisionAnswer) -> RankResponse:
    """The answer to a Rank request: what was chosen stands first, the others follow in their order, and those
    that were excluded keep the places that they had in the request.
    """
    chosen = str(answer.label)
    others = [place for place in answer.ranking if place.label != chosen]
    if answer.arm != "model":  # what the model thinks was not what the draw was made of
        share = (1.0 - answer.probability) / max(1, len(others))
        others = [Place(place.label, share) for place in others]
    shown = [Place(chosen, answer.probability), *others]
    ranked = iter([RankedAction(str(place.label), place.probability) for place in shown])
    ranking = [RankedAction(id_, 0.0) if id_ in asked.excluded else next(ranked) for id_ in asked.actions]
    return RankResponse(ranking, answer.id, chosen)
