"""What is offered in all dialects, and what is refused by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.responses import Response

from banditboost.serve.http.operations import Role
from banditboost.serve.http.personalizer import evaluations, events, files, settings, slots
from banditboost.serve.http.personalizer.question import Question
from banditboost.serve.problems import ServiceError


class Operation(NamedTuple):
    """A method of a path, who may call it, and the code of requests that it cannot take."""

    method: str
    path: str
    handler: Callable[[Question], Awaitable[Response]]
    role: Role
    code: str


async def _not_offered(question: Question) -> Response:
    raise ServiceError(
        403,
        "InvalidApiAccess",
        f"{question.request.method} {question.request.url.path} is not offered; the guide on moving from "
        "Personalizer tells what is",
    )


_CONFIGURATION, _POLICY = "/configurations/service", "/configurations/policy"
_EVALUATION, _BAD_EVALUATION = "/evaluations/{evaluation_id:text}", "InvalidEvaluationContract"
_BAD_CONFIGURATION, _BAD_POLICY = "InvalidServiceConfiguration", "InvalidPolicyConfiguration"

OPERATIONS = [
    Operation("POST", "/rank", events.rank, "decide", "InvalidRankRequest"),
    Operation("POST", "/events/{event_id:text}/reward", events.reward, "learn", "InvalidRewardRequest"),
    Operation(
        "POST", "/events/{event_id:text}/activate", events.activate, "learn", "InvalidEventIdToActivate"
    ),
    Operation("GET", _CONFIGURATION, settings.show_configuration, "read", _BAD_CONFIGURATION),
    Operation("PUT", _CONFIGURATION, settings.replace_configuration, "admin", _BAD_CONFIGURATION),
    Operation("PATCH", _CONFIGURATION, settings.change_configuration, "admin", _BAD_CONFIGURATION),
    Operation("GET", _POLICY, settings.show_policy, "read", _BAD_POLICY),
    Operation("PUT", _POLICY, settings.keep_policy, "admin", _BAD_POLICY),
    Operation("PATCH", _POLICY, settings.keep_policy, "admin", _BAD_POLICY),
    Operation("DELETE", _POLICY, settings.show_policy, "admin", _BAD_POLICY),
    Operation("GET", "/model", files.export_model, "read", "InvalidRequest"),
    Operation("PUT", "/model", files.import_model, "admin", "InvalidModelImportFormat"),
    Operation("DELETE", "/model", files.reset_model, "admin", "InvalidRequest"),
    Operation("GET", "/model/properties", files.model_properties, "read", "InvalidRequest"),
    Operation("GET", "/logs/properties", files.log_properties, "read", "InvalidRequest"),
    Operation("DELETE", "/logs", files.keep_log, "admin", "InvalidRequest"),
    Operation("POST", "/configurations/applyFromEvaluation", evaluations.apply, "admin", _BAD_POLICY),
    Operation("GET", "/evaluations", evaluations.listed, "read", _BAD_EVALUATION),
    Operation("POST", "/evaluations", evaluations.submit, "admin", _BAD_EVALUATION),
    Operation("GET", _EVALUATION, evaluations.show, "read", _BAD_EVALUATION),
    Operation("PUT", _EVALUATION, evaluations.create, "admin", _BAD_EVALUATION),
    Operation("DELETE", _EVALUATION, evaluations.forget, "admin", _BAD_EVALUATION),
    Operation("POST", "/multislot/rank", slots.rank, "decide", "InvalidRankRequest"),
    Operation(
        "POST", "/multislot/events/{event_id:text}/reward", slots.reward, "learn", "InvalidRewardRequest"
    ),
    Operation(
        "POST",
        "/multislot/events/{event_id:text}/activate",
        slots.activate,
        "learn",
        "InvalidEventIdToActivate",
    ),
    Operation("POST", "/logs/{rest:path}", _not_offered, "learn", "InvalidRequest"),
    *(
        Operation(method, path, _not_offered, "read", "InvalidRequest")
        for method in ("GET", "PUT", "DELETE")
        for path in ("/featureImportances", "/featureImportances/{rest:path}")
    ),
]
