"""Learning settings: Vowpal Wabbit's command line there, the learner and its parameters here.

They are told, and cannot be changed.
"""

from __future__ import annotations

import msgspec

from banditboost.serve.http.personalizer.reading import SHAPE, Body, check_id, refused
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import ModelInfo

NAME = "banditboost"


class PolicyContract(Body, frozen=True):
    """What a client sends and gets."""

    name: str
    arguments: str


class PolicyReference(Body, frozen=True):
    """A policy of an evaluation that is to be applied."""

    evaluation_id: str
    policy_name: str


_contract = msgspec.json.Decoder(PolicyContract)
_reference = msgspec.json.Decoder(PolicyReference)


def policy_of(info: ModelInfo) -> PolicyContract:
    """The learner of a model, as learning settings."""
    parameters = msgspec.json.encode(info.settings["parameters"]).decode()
    return PolicyContract(name=NAME, arguments=f"{info.settings['learner']} {parameters}")


def check_policy(body: bytes, info: ModelInfo) -> PolicyContract:
    """The learning settings of a body, if they are those that the model has."""
    given, own = decoded(_contract, body, remedy=SHAPE), policy_of(info)
    if given != own:
        raise refused(
            "arguments" if given.name == own.name else "name",
            f"cannot be changed: the learning settings are {own.arguments}, and arguments of Vowpal Wabbit "
            "have no meaning here; to try other parameters, make another model with them",
        )
    return own


def read_reference(body: bytes) -> PolicyReference:
    """Which policy of which evaluation a body names."""
    given = decoded(_reference, body, remedy=SHAPE)
    check_id(given.evaluation_id, "evaluationId")
    return given
