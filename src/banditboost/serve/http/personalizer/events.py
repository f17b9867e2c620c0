"""Rank, Reward and Activate."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from banditboost.serve.http.personalizer.question import Question, answered, done, only
from banditboost.serve.http.personalizer.rank import read_rank, told
from banditboost.serve.http.personalizer.reading import SHAPE, Body, check_id, check_reward
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import VerdictRequest


class RewardRequest(Body, frozen=True):
    """What an event has earned."""

    value: float


_request = msgspec.json.Decoder(RewardRequest)


async def rank(question: Question) -> Response:
    """Choose an action."""
    asked = read_rank(await question.body(), question.service.settings.limits.depth)
    answers = await question.ask(lambda: question.service.decide(question.name, [asked.decision]))
    return answered(told(asked, only(answers)), 201)


async def reward(question: Question) -> Response:
    """Tell what an event has earned. One that is not known is no error, as it was none for Personalizer."""
    event_id = check_id(question.request.path_params["event_id"], "eventId")
    value = check_reward(decoded(_request, await question.body(), remedy=SHAPE).value, "value")
    verdict = VerdictRequest(id=event_id, reward=value, once=question.once(value))
    only(await question.ask(lambda: question.service.judge(question.name, [verdict])))
    return done()


async def activate(question: Question) -> Response:
    """Tell that an event was shown."""
    event_id = check_id(question.request.path_params["event_id"], "eventId")
    only(await question.ask(lambda: question.service.activate(question.name, [event_id])))
    return done()
