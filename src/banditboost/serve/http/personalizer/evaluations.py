"""Evaluations: asked for, told in both forms, listed and forgotten.

What was asked is kept with the model's settings. The results are made again from the log whenever they are
asked for: from the same part of it, so they stay the same.
"""

from __future__ import annotations

import asyncio
import datetime
import uuid
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from banditboost.serve.http.operations import query_number
from banditboost.serve.http.personalizer.evaluating import ONLINE, SOURCES, Evaluator, Rows
from banditboost.serve.http.personalizer.policy import policy_of, read_reference
from banditboost.serve.http.personalizer.question import Question, answered, done
from banditboost.serve.http.personalizer.reading import SHAPE, Body, check_id, refused
from banditboost.serve.http.personalizer.results import MINUTES, Kept, Span, first_form, latest_form
from banditboost.serve.http.personalizer.settings import info_of
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import ModelInfo
from banditboost.serve.problems import ServiceError

MOST_KEPT = 100
_NOTE = "evaluations"
_FILTERS = {
    "metadata=evaluationType eq 'Manual'": True,
    "metadata=evaluationType eq 'Auto'": False,
}


class EvaluationContract(Body, frozen=True):
    """What a client asks for."""

    name: str
    start_time: datetime.datetime
    end_time: datetime.datetime
    policies: list[Any] | None = None
    enable_offline_experimentation: bool = False
    enable_policy_optimization: bool = False


_contract = msgspec.json.Decoder(EvaluationContract)


async def submit(question: Question) -> Response:
    """Make an evaluation, with an id of ours."""
    asked, id_ = read_contract(await question.body()), str(uuid.uuid4())
    kept, info = await _keep(question, id_, asked)
    told = await asyncio.to_thread(first_form, id_, kept, *await _found(question, kept, info))
    return answered(told, 201, {"Location": f"{quote(question.request.scope['path'])}/{id_}"})


async def create(question: Question) -> Response:
    """Make an evaluation, with the client's id. To ask for the same again changes nothing."""
    await _keep(question, _id_in(question), read_contract(await question.body()))
    return Response(status_code=200)


async def show(question: Question) -> Response:
    """Tell an evaluation."""
    id_, info = _id_in(question), await info_of(question)
    kept = _kept(info, id_)
    span = _span(question, kept) if question.dialect.latest else None
    found = await _found(question, kept, info)
    if span is None:
        return answered(await asyncio.to_thread(first_form, id_, kept, *found))
    return answered(await asyncio.to_thread(latest_form, id_, kept, *found, span))


async def listed(question: Question) -> Response:
    """Tell what was asked for: an array in the first form, an object with it in the latest."""
    kept = _all_kept(await info_of(question))
    if not question.dialect.latest:
        return answered([one.details(id_, "completed") for id_, one in kept.items()])
    details = [one.details(id_, "Succeeded") for id_, one in kept.items() if _is_wanted(question)]
    skip = query_number(question.request, "skip", 0)
    top = query_number(question.request, "top", len(details))
    return answered({"value": details[skip : skip + top]})


async def forget(question: Question) -> Response:
    """Forget an evaluation."""
    id_ = _id_in(question)
    async with question.noting:
        kept = _all_kept(await info_of(question))
        if id_ not in kept:
            raise _unknown(id_)
        await _note(question, {one: what for one, what in kept.items() if one != id_})
    return done()


async def apply(question: Question) -> Response:
    """Apply a policy of an evaluation: that of the model is applied already, and others are no learners."""
    reference = read_reference(await question.body())
    _kept(await info_of(question), reference.evaluation_id)
    if reference.policy_name not in SOURCES:
        raise ServiceError(
            404,
            "LearningSettingsNotFound",
            f"policyName is {reference.policy_name[:80]!r}; an evaluation has {', '.join(SOURCES)}",
            field="policyName",
        )
    if reference.policy_name != ONLINE:
        raise refused(
            "policyName", f"is {reference.policy_name!r}, which learns nothing; only {ONLINE!r} can be"
        )
    return done()


def read_contract(body: bytes) -> EvaluationContract:
    """What is asked for, after a look at it."""
    asked = decoded(_contract, body, remedy=SHAPE)
    check_id(asked.name, "name")
    if asked.policies:
        raise refused(
            "policies",
            "has learning settings of Vowpal Wabbit, which have no meaning here; give an empty array",
        )
    for name, wanted in (
        ("enableOfflineExperimentation", asked.enable_offline_experimentation),
        ("enablePolicyOptimization", asked.enable_policy_optimization),
    ):
        if wanted:
            raise refused(name, "is true; give false: there are no learning settings to search")
    if not _seconds(asked.start_time) < _seconds(asked.end_time):
        raise refused("endTime", "is not after startTime; give a later time")
    return asked


async def _keep(question: Question, id_: str, asked: EvaluationContract) -> tuple[Kept, ModelInfo]:
    start, end = _seconds(asked.start_time), _seconds(asked.end_time)
    async with question.noting:
        info = await info_of(question)
        kept = _all_kept(info)
        if id_ in kept:
            return _asked_again(kept[id_], (asked.name, start, end), id_), info
        if len(kept) >= MOST_KEPT:
            raise ServiceError(
                409, "too-many", f"{MOST_KEPT} evaluations are kept; delete one", field="evaluationId"
            )
        evaluator = await _read(question, start, end, (0, info.events))
        if evaluator.first is None:
            raise ServiceError(
                400,
                "NoLogsExistInDateRange",
                "nothing was decided in this time; give another",
                field="startTime",
            )
        made = Kept(asked.name, start, end, info.changed, evaluator.first, info.events)
        return made, await _note(question, {**kept, id_: made})


def _asked_again(there: Kept, asked: tuple[str, float, float], id_: str) -> Kept:
    if (there.name, there.start, there.end) != asked:
        raise ServiceError(
            409,
            "EvaluationAlreadyExists",
            f"evaluation {id_[:80]!r} is there; take another id",
            field="evaluationId",
        )
    return there


async def _found(question: Question, kept: Kept, info: ModelInfo) -> tuple[Rows, tuple[float, float], str]:
    """The rows of an evaluation, the range of the rewards, and what the model is."""
    evaluator = await _read(question, kept.start, kept.end, (kept.first - 1, kept.last))
    low, high = info.settings["rewards"]
    return evaluator.rows(), (low, high), policy_of(info).arguments


async def _read(question: Question, start: float, end: float, between: tuple[int, int]) -> Evaluator:
    """Read the events after a number up to another one, in a thread of its own."""
    evaluator, (after, last) = Evaluator(start, end), between
    async for events in question.service.log(question.name, after):
        await asyncio.to_thread(evaluator.read, [event for event in events if event.n <= last])
        if events and events[-1].n >= last:
            break
    return evaluator


async def _note(question: Question, kept: dict[str, Kept]) -> ModelInfo:
    info = await info_of(question)
    notes = {**info.settings["notes"], _NOTE: msgspec.to_builtins(kept)}
    return await question.service.change(question.name, {"notes": notes})


def _all_kept(info: ModelInfo) -> dict[str, Kept]:
    return msgspec.convert(info.settings["notes"].get(_NOTE, {}), dict[str, Kept])


def _kept(info: ModelInfo, id_: str) -> Kept:
    kept = _all_kept(info).get(id_)
    if kept is None:
        raise _unknown(id_)
    return kept


def _unknown(id_: str) -> ServiceError:
    return ServiceError(
        404,
        "EvaluationNotFound",
        f"there is no evaluation {id_[:80]!r}; ask for the list",
        field="evaluationId",
    )


def _id_in(question: Question) -> str:
    return check_id(question.request.path_params["evaluation_id"], "evaluationId")


def _seconds(at: datetime.datetime) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=datetime.UTC)).timestamp()


def _is_wanted(question: Question) -> bool:
    given = question.request.query_params.get("filter")
    if given is None:
        return True
    if given not in _FILTERS:
        raise refused("filter", f"is {given[:80]!r}; give one of {', '.join(_FILTERS)}")
    return _FILTERS[given]


def _span(question: Question, kept: Kept) -> Span:
    """The series that a client asks for."""
    query = question.request.query_params
    minutes = query_number(question.request, "intervalInMinutes", MINUTES[0])
    if minutes not in MINUTES:
        raise refused("intervalInMinutes", f"is {minutes}; give one of {', '.join(map(str, MINUTES))}")
    window = query.get("window", "Expanding")
    if window not in ("Expanding", "Rolling"):
        raise refused("window", f"is {window[:80]!r}; give 'Expanding' or 'Rolling'")
    start, end = _time_in(query.get("startTime"), "startTime"), _time_in(query.get("endTime"), "endTime")
    return Span(max(start, kept.start), min(end, kept.end), minutes, rolling=window == "Rolling")


def _time_in(text: str | None, field: str) -> float:
    try:
        return _seconds(msgspec.convert(text, datetime.datetime))
    except (msgspec.ValidationError, OverflowError):
        raise refused(field, f"is {str(text)[:80]!r}; give a time such as 2026-08-25T00:00:00Z") from None
