"""The model's file and the log."""

from __future__ import annotations

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


async def log_properties(question: Question) -> Response:
    """The time from the first decision of the log to its last event."""
    info = await info_of(question)
    async for events in question.service.log(question.name):
        for event in events:
            if isinstance(decode(event.body), Decided):
                return answered({"dateRange": {"from": instant(event.at), "to": instant(info.changed)}})
    raise ServiceError(404, "LogsPropertiesNotFound", "nothing was decided yet; call Rank")


async def keep_log(question: Question) -> Response:
    """Refuse to delete the log."""
    raise ServiceError(
        403,
        "OperationNotAllowed",
        "the log cannot be deleted, for the model is made from it; to forget both, call DELETE "
        f"/v1/models/{question.name}",
    )
