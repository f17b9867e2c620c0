"""Learning settings: Vowpal Wabbit's command line there, the learner and its parameters here.

They are told, and cannot be changed.
"""

from __future__ import annotations

import msgspec

from banditboost.serve.http.personalizer.reading import Body, check_id, read_body
from banditboost.serve.messages import ModelInfo
from banditboost.serve.problems import ServiceError

NAME = "banditboost"
CODE = "InvalidPolicyConfiguration"


class PolicyContract(Body, frozen=True):
    """What a client sends and gets."""

    name: str
    arguments: str


class PolicyReference(Body, frozen=True):
    """A policy of an evaluation that is to be applied."""

    evaluation_id: str
    policy_name: str


def policy_of(info: ModelInfo) -> PolicyContract:
    """The learner of a model, as learning settings."""
    parameters = msgspec.json.encode(info.settings["parameters"]).decode()
    return PolicyContract(name=NAME, arguments=f"{info.settings['learner']} {parameters}")


def check_policy(body: bytes, info: ModelInfo) -> PolicyContract:
    """The learning settings of a body, if they are those that the model has."""
    given, own = read_body(body, PolicyContract, CODE), policy_of(info)
    if given != own:
        raise ServiceError(
            400,
            CODE,
            f"learning settings cannot be changed here, they are {own.arguments}; Vowpal Wabbit's arguments "
            "have no meaning for it. To try other parameters, make another model with them",
            field="arguments" if given.name == own.name else "name",
        )
    return own


def read_reference(body: bytes) -> PolicyReference:
    """Which policy of which evaluation a body names."""
    given = read_body(body, PolicyReference, CODE)
    check_id(given.evaluation_id, "evaluationId", CODE)
    return given
