"""The log as a stream: rows that `banditboost.logs` reads, or every event."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from banditboost.errors import BanditBoostError
from banditboost.serve.events import decode
from banditboost.serve.http.operations import Operation, query_number
from banditboost.serve.joining import Joining, Row, features_of, options_of
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service
from banditboost.serve.store.base import StoredEvent

JSON_LINES = "application/jsonl"
PARQUET = "application/vnd.apache.parquet"
COLUMNS = {name: f"@{name}" for name in ("action", "reward", "probability", "time", "id")}
"""What columns of rows are called: a feature's name never begins with a single @."""
_encode = msgspec.json.Encoder().encode
_PART = 1 << 16  # bytes of a file that are sent at once
Pages = AsyncIterator[Sequence[StoredEvent]]


class LogStream:
    """The operation that streams a log."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._forms = {"jsonl": _table, "dsjson": _dsjson, "events": _events}

    def operations(self) -> list[Operation]:
        """What is offered."""
        queries = (
            (
                "form",
                str,
                "jsonl (the default), parquet or dsjson: decisions and what they earned; events: all",
            ),
            ("after", int, "with form=events: the number of the last event that is known already"),
        )
        return [
            Operation(
                "GET", "/v1/models/{name}/log", self.log, "read", "The log as a stream", None, bytes,
                gives=JSON_LINES, queries=queries,
            )
        ]  # fmt: skip

    async def log(self, request: Request) -> Response:
        """The log, from its beginning to the last event that is on disk."""
        name, form = request.path_params["name"], request.query_params.get("form", "jsonl")
        if form not in (*self._forms, "parquet"):
            raise ServiceError(
                400, "malformed", "form is unknown; give jsonl, parquet, dsjson or events", field="form"
            )
        if "after" in request.query_params and form != "events":
            raise ServiceError(400, "malformed", "after is for form=events; leave it out", field="after")
        pages = self._service.log(name, query_number(request, "after", 0))
        first = await anext(pages, None)  # refuses what cannot be read before anything is sent
        lines = self._forms["jsonl" if form == "parquet" else form](_with(first, pages))
        if form == "parquet":
            return StreamingResponse(_sent(await _written(lines)), media_type=PARQUET)
        return StreamingResponse(lines, media_type=JSON_LINES)


async def _with(first: Sequence[StoredEvent] | None, rest: Pages) -> Pages:
    if first is not None:
        yield first
        async for page in rest:
            yield page


async def _events(pages: Pages) -> AsyncIterator[bytes]:
    async for page in pages:
        yield b"".join(_line(_told(stored)) for stored in page)


def _told(stored: StoredEvent) -> dict[str, Any]:
    """An event with names for all that it tells."""
    event = decode(stored.body)
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    as_json = {
        name: msgspec.Raw(value) for name, value in fields.items() if isinstance(value, bytes) and value
    }
    kind = type(event).__name__.lower()
    return {"n": stored.n, "at": stored.at, "chain": stored.chain, "event": kind, **fields, **as_json}


def _table(pages: Pages) -> AsyncIterator[bytes]:
    return _rows(pages, _row)


def _dsjson(pages: Pages) -> AsyncIterator[bytes]:
    return _rows(pages, _ds_event)


async def _rows(pages: Pages, told: Callable[[Row], dict[str, Any] | None]) -> AsyncIterator[bytes]:
    joining = Joining()
    async for page in pages:
        rows = [row for stored in page for row in joining.rows(stored.at, decode(stored.body))]
        yield b"".join(_line(told(row)) for row in rows)
    yield b"".join(_line(told(row)) for row in joining.rest())


def _line(told: dict[str, Any] | None) -> bytes:
    return b"" if told is None else _encode(told) + b"\n"


def _row(row: Row) -> dict[str, Any]:
    decided = row.decided
    features = {f"@{name}" if name.startswith("@") else name: v for name, v in features_of(decided).items()}
    values = (decided.label, row.reward, decided.probability, _time(row.at), decided.id)
    told = dict(zip(COLUMNS.values(), values, strict=True))
    return {name: value for name, value in (features | told).items() if value is not None}


def _ds_event(row: Row) -> dict[str, Any] | None:
    """A line of dsjson, which needs a reward; with what could be shown."""
    if row.reward is None:
        return None
    options, decided = options_of(row), row.decided
    place = [str(id_) for id_ in options].index(str(decided.label))
    return {
        "_label_cost": -row.reward,
        "_label_probability": decided.probability,
        "_label_Action": place + 1,
        "_labelIndex": place,
        "Timestamp": _time(row.at),
        "EventId": decided.id,
        "a": [place + 1],
        "p": [decided.probability],
        "c": {
            "x": features_of(decided),
            "_multi": [{"_tag": id_, "x": features} for id_, features in options.items()],
        },
    }


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


async def _written(lines: AsyncIterator[bytes]) -> Path:
    """A Parquet file of the rows; its columns are known when all of them were seen."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="banditboost-"))
    try:
        with (folder / "log.jsonl").open("wb") as file:
            async for part in lines:
                await asyncio.to_thread(file.write, part)
        await asyncio.to_thread(_convert, folder)
    except BaseException:
        _remove(folder)
        raise
    return folder / "log.parquet"


def _convert(folder: Path) -> None:
    from banditboost import logs

    try:
        logs.write(logs.read(folder / "log.jsonl", **COLUMNS), folder / "log.parquet", names=COLUMNS)
    except BanditBoostError as error:
        raise ServiceError(422, "no-parquet", str(error), field="form") from None


async def _sent(path: Path) -> AsyncIterator[bytes]:
    try:
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, _PART):
                yield part
    finally:
        _remove(path.parent)


def _remove(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
