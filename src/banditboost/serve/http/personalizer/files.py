"""The model's file and the log."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from banditboost.serve.events import Decided, decode
from banditboost.serve.http.models import BYTES
from banditboost.serve.http.personalizer.configuration import instant
from banditboost.serve.http.personalizer.question import Question, answered, done
from banditboost.serve.http.personalizer.settings import info_of
from banditboost.serve.http.reading import read_body
from banditboost.serve.problems import ServiceError


async def export_model(question: Question) -> Response:
    """The model's file, as `banditboost.load` reads it."""
    return Response(await question.ask(lambda: question.service.download(question.name)), media_type=BYTES)


async def import_model(question: Question) -> Response:
    """Replace the model by a file."""
    file = await read_body(question.request, question.service.settings.limits.file)
    try:
        await question.ask(lambda: question.service.upload(question.name, file))
    except ServiceError as error:
        if error.status != 422:
            raise
        raise ServiceError(400, "InvalidModelImportFormat", error.detail, field="model") from None
    return done()


async def reset_model(question: Question) -> Response:
    """Forget what was learned."""
    await question.ask(lambda: question.service.reset(question.name))
    return done()


async def model_properties(question: Question) -> Response:
    """When the model was made and last changed."""
    info = await info_of(question)
    return answered({"creationTime": instant(info.created), "lastModifiedTime": instant(info.changed)})


class DateRange(msgspec.Struct, frozen=True):
    """The times of the first and of the last event."""

    start: float
    end: float


async def log_properties(question: Question) -> Response:
    """The time from the first decision of the log to its last event."""
    found = await date_range(question)
    if found is None:
        raise ServiceError(404, "LogsPropertiesNotFound", "nothing was decided yet; call Rank")
    return answered({"dateRange": {"from": instant(found.start), "to": instant(found.end)}})


async def date_range(question: Question) -> DateRange | None:
    """The time of the first decision, and that of the last event; None if there is no decision."""
    info = await info_of(question)
    start = None
    async for events in question.service.log(question.name):
        start = next((event.at for event in events if isinstance(decode(event.body), Decided)), None)
        if start is not None:
            break
    if start is None:
        return None
    end = start
    async for events in question.service.log(question.name, max(0, info.events - 1)):
        end = max([end, *(event.at for event in events)])
    return DateRange(start, end)


async def keep_log(question: Question) -> Response:
    """Refuse to delete the log."""
    raise ServiceError(
        403,
        "OperationNotAllowed",
        "the log cannot be deleted, for the model is made from it; to forget both, call DELETE "
        f"/v1/models/{question.name}",
    )
