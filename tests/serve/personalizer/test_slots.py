"""Multi-slot: what the slots of a request ask for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.serve.http.personalizer.slots import MultiSlotRankRequest, Slots
from banditboost.serve.problems import ServiceError
from tests.serve.calling import Caller
from tests.serve.personalizer.offering import OfferingService

AT = "/personalizer/v1.1-preview.1/multislot"
REQUEST: dict[str, Any] = {
    "eventId": "e",
    "contextFeatures": [{"hour": 9}, {"slot": {"id": "mine"}}],
    "actions": [{"id": id_, "features": [{"price": price}]} for id_, price in (("a", 1), ("b", 2), ("c", 3))],
    "slots": [
        {"id": "top", "baselineAction": "a", "features": [{"size": "large"}, {"place": {"row": 1}}]},
        {"id": "side", "baselineAction": "b", "excludedActions": ["c"]},
    ],
}


def test_each_slot_is_a_decision_among_what_is_left(client: Caller, service: OfferingService) -> None:
    told = client.post(f"{AT}/rank", json=REQUEST)
    assert told.status_code == 201
    assert told.json() == {
        "slots": [{"id": "top", "rewardActionId": "c"}, {"id": "side", "rewardActionId": "a"}],
        "eventId": "e",
    }
    top, side = service.asked
    assert (top.id, top.allowed, top.baseline) == ("e#top", None, "a")
    assert (side.id, side.allowed, side.baseline) == ("e#side", None, "b")
    assert msgspec.json.decode(side.options or b"") == {"a": {"price": 1}, "b": {"price": 2}}
    assert msgspec.json.decode(top.features) == {
        "hour": 9,
        "slot.id": "mine",
        "slot.id#2": "top",
        "slot.size": "large",
        "slot.place.row": 1,
    }


def test_rewards_of_slots(client: Caller, service: OfferingService) -> None:
    client.post(f"{AT}/rank", json=REQUEST)
    rewards = [{"slotId": "top", "value": 1}, {"slotId": "side", "value": -0.5}, {"slotId": "x", "value": 0}]
    told = client.post(f"{AT}/events/e/reward", json={"reward": rewards})
    assert (told.status_code, told.content) == (204, b"")
    assert {id_: verdict.reward for id_, verdict in service.judged.items()} == {"e#top": 1.0, "e#side": -0.5}
    assert client.post(f"{AT}/events/e/activate").status_code == 204


def test_an_event_without_id_gets_one(client: Caller, service: OfferingService) -> None:
    event_id = client.post(f"{AT}/rank", json=REQUEST | {"eventId": None}).json()["eventId"]
    assert [asked.id for asked in service.asked] == [f"{event_id}#top", f"{event_id}#side"]


def slot(**changes: Any) -> dict[str, Any]:
    return REQUEST["slots"][1] | changes


@pytest.mark.parametrize(
    ("change", "target"),
    [
        ({"slots": []}, "slots"),
        ({"slots": [slot(id=str(n)) for n in range(51)]}, "slots"),
        ({"slots": [slot(), slot(baselineAction="a")]}, "slots[1].id"),
        ({"slots": [slot(baselineAction="d")]}, "slots[0].baselineAction"),
        ({"slots": [slot(baselineAction="c")]}, "slots[0].baselineAction"),
        ({"slots": [slot(), slot(id="other")]}, "slots[1].baselineAction"),
        (
            {"slots": [slot(), slot(id="2", baselineAction="a", excludedActions=["b", "c"])]},
            "slots[1].excludedActions",
        ),
        ({"slots": [slot(features=[1])]}, "slots[0].features[0]"),
        ({"slots": [slot(id="")]}, "slots[0].id"),
        ({"eventId": "e" * 253}, "eventId"),
        ({"deferActivation": True}, "deferActivation"),
        ({"actions": []}, "actions"),
    ],
)
def test_a_wrong_request_decides_nothing(
    client: Caller, service: OfferingService, change: dict[str, Any], target: str
) -> None:
    refused = client.post(f"{AT}/rank", json=REQUEST | change).json()["error"]
    assert (refused["code"], refused["target"]) == ("InvalidRankRequest", target)
    assert not service.asked


def test_a_wrong_reward_tells_nothing(client: Caller, service: OfferingService) -> None:
    client.post(f"{AT}/rank", json=REQUEST)
    rewards = [{"slotId": "top", "value": 1}, {"slotId": "side", "value": 1.5}]
    refused = client.post(f"{AT}/events/e/reward", json={"reward": rewards}).json()["error"]
    assert (refused["code"], refused["target"]) == ("InvalidRewardRequest", "reward[1].value")
    assert not service.judged


ACTIONS = ["a", "b", "c", "d"]
SLOTS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("xyzw"),
            "baselineAction": st.sampled_from(ACTIONS),
            "excludedActions": st.lists(st.sampled_from(ACTIONS), max_size=3),
        }
    ),
    max_size=4,
)


@given(SLOTS, st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_whatever_is_shown_every_slot_has_something_left(
    asked: list[dict[str, Any]], draws: list[int]
) -> None:
    body = {"actions": [{"id": action} for action in ACTIONS], "slots": asked}
    try:
        slots = Slots(msgspec.convert(body, MultiSlotRankRequest), 8)
    except ServiceError:
        return
    taken: list[str] = []
    for one, decision, draw in zip(asked, slots.asked(), draws, strict=False):
        allowed = decision.allowed or list(msgspec.json.decode(decision.options or b""))
        assert set(allowed) == set(ACTIONS) - {*taken, *one["excludedActions"]}
        assert allowed
        assert decision.baseline == allowed[0]
        assert decision.baseline == one["baselineAction"] or one["baselineAction"] in taken
        taken.append(str(allowed[draw % len(allowed)]))
        slots.take(taken[-1])
