"""Reward and Activate: what became of an event."""

from __future__ import annotations

from banditboost.serve.http.personalizer.reading import Body, check_id, read_body
from banditboost.serve.messages import VerdictRequest
from banditboost.serve.problems import ServiceError

REWARD_CODE = "InvalidRewardRequest"
ACTIVATE_CODE = "InvalidEventIdToActivate"


class RewardRequest(Body, frozen=True):
    """What a client sends."""

    value: float


def read_reward(event_id: str, body: bytes) -> VerdictRequest:
    """The verdict that a body tells of an event."""
    check_id(event_id, "eventId", REWARD_CODE)
    value = read_body(body, RewardRequest, REWARD_CODE).value
    if not -1.0 <= value <= 1.0:
        raise ServiceError(400, REWARD_CODE, f"value is {value:g}; give a number from -1 to 1", field="value")
    return VerdictRequest(id=event_id, reward=value)
