"""Decisions, verdicts and activations: one, or an array of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.http.bodies import DecisionBody, NamedVerdictBody, VerdictBody
from banditboost.serve.http.errors import Problem, problem_of
from banditboost.serve.http.operations import JSON, Operation
from banditboost.serve.http.reading import decoded, read_body
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, VerdictAnswer, VerdictRequest
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service
from banditboost.serve.settings import Limits

DECIDE = "/v1/models/{name}/decisions"
JUDGE = "/v1/models/{name}/decisions/{id:text}/verdict"
T = TypeVar("T")
_encode = msgspec.json.Encoder().encode
_items = msgspec.json.Decoder(list[msgspec.Raw])
_ids = msgspec.json.Decoder(list[str])
_decision = msgspec.json.Decoder(DecisionBody)
_verdict = msgspec.json.Decoder(VerdictBody)
_named_verdict = msgspec.json.Decoder(NamedVerdictBody)


class Decisions:
    """The operations on decisions of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.limits: Limits = service.settings.limits

    def operations(self) -> list[Operation]:
        """What is offered."""
        at = "/v1/models/{name}"
        return [
            Operation(
                "POST",
                DECIDE,
                self.decide,
                "decide",
                "Decide once, or for each item of an array",
                DecisionBody | list[DecisionBody],
                DecisionAnswer | list[DecisionAnswer | Problem],
            ),
            Operation(
                "POST", JUDGE, self.judge, "learn", "Tell what became of a decision", VerdictBody,
                VerdictAnswer,
            ),
            Operation(
                "POST", f"{at}/decisions/{{id:text}}/activate", self.activate, "learn",
                "Tell that a deferred decision was shown", None, VerdictAnswer,
            ),
            Operation(
                "POST", f"{at}/verdicts", self.judge_all, "learn", "Tell what became of many decisions",
                list[NamedVerdictBody], list[VerdictAnswer | Problem],
            ),
            Operation(
                "POST", f"{at}/activations", self.activate_all, "learn",
                "Tell that many deferred decisions were shown", list[str], list[VerdictAnswer | Problem],
            ),
        ]  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """One decision, or one for each item of an array."""
        body, name = await read_body(request, self.limits.body), request.path_params["name"]
        if body.lstrip(b" \t\r\n")[:1] != b"[":
            return Response(await self.decide_one(name, body), media_type=JSON)
        asked = [self._asked(item, f"[{i}]") for i, item in enumerate(self._batch(_items, body))]
        return _many(await self._service.decide(name, asked))

    async def judge(self, request: Request) -> Response:
        """A verdict of the decision in the path."""
        body, name = await read_body(request, self.limits.body), request.path_params["name"]
        return Response(await self.judge_one(name, _id_in(request), body), media_type=JSON)

    async def judge_all(self, request: Request) -> Response:
        """Many verdicts."""
        items = self._batch(_items, await read_body(request, self.limits.body))
        told = [decoded(_named_verdict, item, f"[{i}]") for i, item in enumerate(items)]
        verdicts = [_checked(one.id, one, f"[{i}]") for i, one in enumerate(told)]
        return _many(await self._service.judge(request.path_params["name"], verdicts))

    async def activate(self, request: Request) -> Response:
        """The decision in the path was shown."""
        answers = await self._service.activate(request.path_params["name"], [_id_in(request)])
        return Response(_known(answers), media_type=JSON)

    async def activate_all(self, request: Request) -> Response:
        """Many decisions were shown."""
        ids = self._batch(_ids, await read_body(request, self.limits.body))
        return _many(await self._service.activate(request.path_params["name"], ids))

    async def decide_one(self, name: str, body: bytes) -> bytes:
        """The answer to one decision, in JSON."""
        return _one(await self._service.decide(name, (self._asked(body),)))

    async def judge_one(self, name: str, id: str, body: bytes) -> bytes:
        """The answer to one verdict, in JSON."""
        verdict = _checked(id, decoded(_verdict, body))
        return _known(await self._service.judge(name, (verdict,)))

    def _asked(self, body: bytes | msgspec.Raw, within: str = "") -> DecisionRequest:
        asked = decoded(_decision, body, within)
        options = bytes(asked.options)
        return DecisionRequest(
            features=bytes(asked.features),
            options=None if options in (b"", b"null") else options,
            allowed=asked.allowed,
            id=asked.id,
            deferred=asked.deferred,
            baseline=asked.baseline,
            ranking=asked.ranking,
        )

    def _batch(self, decoder: msgspec.json.Decoder[list[T]], body: bytes) -> list[T]:
        items = decoded(decoder, body)
        if len(items) > self.limits.batch:
            raise ServiceError(
                413,
                "batch",
                f"the array has {len(items)} items, and {self.limits.batch} are taken; send several",
                field="body",
            )
        return items


def _id_in(request: Request) -> str:
    found: str = request.path_params["id"]
    return found


def _checked(id: str, told: VerdictBody | NamedVerdictBody, within: str = "") -> VerdictRequest:
    if (told.correct is None) == (told.reward is None):
        raise ServiceError(
            400, "malformed", "a verdict tells either correct or reward; give one of the two", field=within
        )
    return VerdictRequest(id=id, correct=told.correct, reward=told.reward, once=told.once)


def _one(answers: Sequence[DecisionAnswer | VerdictAnswer | ServiceError]) -> bytes:
    answer = answers[0]
    if isinstance(answer, ServiceError):
        raise answer
    return _encode(answer)


def _known(answers: Sequence[VerdictAnswer | ServiceError]) -> bytes:
    answer = answers[0]
    if isinstance(answer, VerdictAnswer) and answer.outcome == "unknown":
        raise ServiceError(
            404, "unknown-decision", "no decision of this model has this id; use the id of its answer",
            field="id",
        )  # fmt: skip
    return _one(answers)


def _many(answers: Sequence[DecisionAnswer | VerdictAnswer | ServiceError]) -> Response:
    told = [
        problem_of(answer, f"[{i}]") if isinstance(answer, ServiceError) else answer
        for i, answer in enumerate(answers)
    ]
    return Response(_encode(told), media_type=JSON)
