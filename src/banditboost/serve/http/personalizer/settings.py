"""The service configuration and the learning settings: shown, changed, and refused what is not there."""

from __future__ import annotations

from starlette.responses import Response

from banditboost.serve.http.personalizer.configuration import (
    changes_of,
    read_configuration,
    remarks,
    shown,
)
from banditboost.serve.http.personalizer.policy import check_policy, policy_of
from banditboost.serve.http.personalizer.question import Question, answered
from banditboost.serve.messages import ModelInfo


async def info_of(question: Question) -> ModelInfo:
    """The model that is asked about."""
    return await question.ask(lambda: question.service.show(question.name))


async def show_configuration(question: Question) -> Response:
    """Tell the configuration."""
    return answered(shown(await info_of(question)))


async def replace_configuration(question: Question) -> Response:
    """Take a whole configuration."""
    return await _configure(question, whole=True)


async def change_configuration(question: Question) -> Response:
    """Take parts of a configuration, as v1.0 does."""
    return await _configure(question, whole=False)


async def _configure(question: Question, *, whole: bool) -> Response:
    given = read_configuration(await question.body(), whole=whole)
    changes = changes_of(given)
    info = await question.ask(lambda: question.service.change(question.name, changes))
    ignored = remarks(given)
    return answered(shown(info), headers={"Warning": _warning(ignored)} if ignored else None)


def _warning(told: list[str]) -> str:
    return ", ".join(f'299 banditboost "{remark}"' for remark in told)


async def show_policy(question: Question) -> Response:
    """Tell the learning settings. To reset them is the same, for they do not change."""
    return answered(policy_of(await info_of(question)))


async def keep_policy(question: Question) -> Response:
    """Take the learning settings that the model has, and no others."""
    return answered(check_policy(await question.body(), await info_of(question)))
