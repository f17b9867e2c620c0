"""Whatever is sent is answered or refused with a problem; the service goes on, and nothing is a 500."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.calling import Caller, calling

AT = ["news", "shop"]
PATHS = ["decisions", "verdicts", "activations", "decisions/1/verdict", "decisions/1/activate", "reset"]
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.sampled_from(["a", "b", "\x00", "x" * 300]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = [
    "features",
    "options",
    "allowed",
    "id",
    "deferred",
    "baseline",
    "ranking",
    "correct",
    "reward",
    "once",
]
BODIES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)
DECISIONS = st.fixed_dictionaries(
    {"features": st.dictionaries(st.text(max_size=5), VALUES, max_size=4)},
    optional={
        "id": st.text(max_size=5),
        "allowed": st.lists(st.sampled_from(["a", "b", 3, "c"]), max_size=3),
    },
)
JSON = st.one_of(BODIES, DECISIONS, st.lists(st.one_of(BODIES, DECISIONS), max_size=3), VALUES)


@st.composite
def torn(draw: Any) -> bytes:
    """JSON with some bytes cut out or put in."""
    body = bytearray(json.dumps(draw(JSON)).encode())
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(body)))
        body[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(body)


@st.composite
def in_no_encoding(draw: Any) -> bytes:
    """JSON with bytes in a text that are no text."""
    body = json.dumps(draw(DECISIONS)).encode()
    quotes = [place for place, byte in enumerate(body) if byte == ord('"')]
    place = draw(st.sampled_from(quotes)) + 1
    return body[:place] + draw(st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80"])) + body[place:]


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    models = {"news": ModelSettings(labels=["a", "b", 3]), "shop": ModelSettings(learner="OptionBoost")}
    told = ServiceSettings(models=models, sync="normal", limits=Limits(batch=2, body=5_000, id=20))
    store = SQLiteStore(tmp_path_factory.mktemp("store"), "normal")
    with calling(create_app(SoloService(told, store))) as caller:
        yield caller


@settings(suppress_health_check=list(HealthCheck))
@given(
    model=st.sampled_from(AT),
    path=st.sampled_from(PATHS),
    body=st.one_of(JSON.map(lambda value: json.dumps(value).encode()), torn(), st.binary(max_size=50)),
)
def test_bodies(caller: Caller, model: str, path: str, body: bytes) -> None:
    _check(caller.post(f"/v1/models/{model}/{path}", content=body))


@settings(suppress_health_check=list(HealthCheck), max_examples=50)
@given(model=st.sampled_from(AT), body=in_no_encoding())
def test_texts_in_no_encoding(caller: Caller, model: str, body: bytes) -> None:
    told = caller.post(f"/v1/models/{model}/decisions", content=body)
    assert told.status_code in (400, 422)
    _check(told)
    _check(caller.post(f"/v1/models/{model}/decisions", content=b"[" + body + b"]"))


@settings(suppress_health_check=list(HealthCheck), max_examples=30)
@given(changes=st.dictionaries(st.sampled_from([*ModelSettings.__struct_fields__, "x"]), VALUES, max_size=3))
def test_settings(caller: Caller, changes: dict[str, Any]) -> None:
    body = json.dumps(changes).encode()
    _check(caller.patch("/v1/models/news", content=body))
    _check(caller.put("/v1/models/other", content=body))
    caller.delete("/v1/models/other")
    _check(caller.put("/v1/models/news/file", content=body))


@settings(suppress_health_check=list(HealthCheck))
@given(
    path=st.text(st.characters(codec="utf-8"), max_size=30),
    query=st.dictionaries(st.sampled_from(["limit", "after", "form"]), st.text(max_size=8), max_size=3),
)
def test_paths_and_queries(caller: Caller, path: str, query: dict[str, str]) -> None:
    from urllib.parse import quote

    for at in (f"/{quote(path)}", f"/v1/models/{quote(path, safe='')}", "/v1/models/news/log", "/v1/models"):
        _check(caller.get(at, params=query))


def _check(told: Any) -> None:
    assert told.status_code < 500, told.text
    if told.status_code >= 400:
        problem = told.json()
        problems = problem.get("error", problem)  # Personalizer's have a shape of their own
        assert problems["code"]
