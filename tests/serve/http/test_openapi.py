"""The OpenAPI document: it is complete, its answers are what it says, and nothing it allows breaks a door."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from banditboost.serve.http.app import create_app, operations_of
from banditboost.serve.http.openapi import document
from banditboost.serve.http.operations import Operation
from banditboost.serve.metrics import Metrics
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from banditboost.serve.traffic import Traffic
from tests.serve.calling import calling
from tests.serve.http.memory import MemoryService
from tests.serve.serving import serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]


def offered() -> list[Operation]:
    """All operations of a service."""
    service = MemoryService()
    return operations_of(service, Metrics(service.health, 1), Traffic())


def _document() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(document(offered())))
    return told


def test_the_document_is_served_and_holds_every_operation() -> None:
    with calling(create_app(MemoryService())) as caller:
        told = caller.get("/openapi.json").json()
        assert told == _document()
        for one in offered():
            assert one.method.lower() in told["paths"][re.sub(r":\w+\}", "}", one.path)]


def test_every_operation_has_a_name_of_its_own_and_says_which_key_it_needs() -> None:
    operations = [one for path in _document()["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    assert all("role" in one["description"] for one in operations if "security" in one)


def test_the_page_to_try_it_comes_from_here_only() -> None:
    with calling(create_app(MemoryService())) as caller:
        for path, kind in (("/try", "text/html"), ("/try.css", "text/css"), ("/try.js", "text/javascript")):
            told = caller.get(path)
            assert told.headers["content-type"].startswith(kind)
            assert not re.findall(r"https?://|//[a-z]", told.text.replace("// Shows", ""))
            assert "innerHTML" not in told.text


def test_the_documentation_names_pages_that_there_are() -> None:
    told = (Path(__file__).parents[3] / "docs/serve/interface.md").read_text().split("```")[0]
    named = re.findall(r"`(/\S+)`", told)
    assert len(named) >= 3
    with calling(create_app(MemoryService())) as caller:
        pages = [path for path in named if path != "/v1"]
        assert {path: caller.get(path).status_code for path in pages} == dict.fromkeys(pages, 200)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real service, with models of both kinds."""
    models = {"news": ModelSettings(labels=["a", "b", 3]), "shop": ModelSettings(learner="OptionBoost")}
    told = ServiceSettings(limits=Limits(batch=20), models=models, sync="normal")
    service = SoloService(told, SQLiteStore(tmp_path_factory.mktemp("store"), "normal"))
    with serving(create_app(service)) as address:
        yield address


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for path, methods in _document()["paths"].items() for method in methods],
)
def test_nothing_that_the_document_allows_breaks_a_door(address: str, method: str, path: str) -> None:
    schema = schemathesis.openapi.from_dict(_document())
    schema.config.update(base_url=address)

    @settings(max_examples=8, phases=[Phase.generate], deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=schema[path][method.upper()].as_strategy(), name=st.sampled_from(["news", "shop", None]))
    def sends(case: Any, name: str | None) -> None:
        if name is not None and "name" in case.path_parameters and method != "delete":
            case.path_parameters["name"] = name
        case.call_and_validate(checks=CHECKS)

    sends()
