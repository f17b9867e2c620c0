"""Tables on the pages about the service, made of the code: `make docs` writes them between their marks."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from banditboost.client import calls
from banditboost.client.blocking import Client
from banditboost.serve.health import Health
from banditboost.serve.http.app import operations_of
from banditboost.serve.metrics import Metrics
from banditboost.serve.service import Service
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.traffic import Traffic

PAGES = Path(__file__).parent / "serve"
SOURCES = Path(calls.__file__).parents[1] / "serve"
_MARKED = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- /made -->)", re.DOTALL)


def operations() -> str:
    """What is offered, in the order of the OpenAPI document."""
    service = _Unasked()
    offered = operations_of(service, Metrics(Health, 1), Traffic())
    rows = [
        (f"`{one.method} {one.path.replace(':text', '')}`", one.role or "anybody", one.summary)
        for one in offered
    ]
    return _table(("path", "role", "what"), rows)


def codes() -> str:
    """The codes of refusals by status, as they stand in the sources."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for source in SOURCES.rglob("*.py"):
        if "personalizer" not in source.parts:
            for status, code in re.findall(
                r'ServiceError\(\s*(\d{3}),\s*"([a-z-]+)"', source.read_text(encoding="utf-8")
            ):
                found[int(status)].add(code)
    found[503] |= {f"store-{why}" for why in _whys()}
    found[404].add("no-such-path")
    rows = [
        (str(status), ", ".join(f"`{code}`" for code in sorted(found[status]))) for status in sorted(found)
    ]
    return _table(("status", "`code`"), rows)


def _whys() -> set[str]:
    """Why a store fails: the first argument of each StoreError."""
    found: set[str] = set()
    for source in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "StoreError":
                first = node.args[0]
                found |= {first.value} if isinstance(first, ast.Constant) else set()
    from banditboost.serve.store.sqlite import _WHY

    return {str(why) for why in found} | set(_WHY.values())


def metrics() -> str:
    """What /metrics tells, from a service that nobody has asked."""
    asked = Metrics(Health, 1)
    asked.begin()
    asked.end("GET", "/", 200, 0.0)
    asked.decided("a", "model")
    asked.judged("a", "learned")
    asked.refused("a")
    rows = []
    for family in text_string_to_metric_families(asked.text().decode()):
        if family.name.startswith("banditboost_"):
            labels = {name for sample in family.samples for name in sample.labels} - {"le"}
            end = "_total" if family.type == "counter" else ""
            names = ", ".join(f"`{name}`" for name in sorted(labels))
            rows.append((f"`{family.name}{end}`", names, family.documentation))
    return _table(("metric", "labels", "what"), rows)


def client() -> str:
    """The methods of the client."""
    rows = []
    for name in vars(Client):
        if not name.startswith("_") and hasattr(calls, name):
            told = (getattr(calls, name).__doc__ or "").partition("\n\n")[0]
            rows.append((f"`{name}`", " ".join(told.split())))
    return _table(("method", "what"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "operations": operations,
    "codes": codes,
    "metrics": metrics,
    "client": client,
}


class _Unasked(Service):
    """A service that is only looked at."""

    settings = ServiceSettings()


def filled(text: str) -> str:
    """A page with its tables."""
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write() -> None:
    """Bring all pages up to date."""
    for page in sorted(PAGES.glob("*.md")):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
