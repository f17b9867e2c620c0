"""The files in deploy/ fit the program: settings, flags, paths, variables, and metrics that a service tells."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml
from prometheus_client.parser import text_string_to_metric_families

from banditboost.cli.app import app
from banditboost.registry import ALL_MODELS
from banditboost.serve.configuration import configured
from banditboost.serve.http.app import create_app
from banditboost.serve.launch import data_directory
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.docs.pages import DOCS
from tests.serve.serving import serving

DEPLOY = Path(__file__).parents[2] / "deploy"
KEY = f'\n[[keys]]\nhash = "{"0" * 64}"\nroles = ["decide"]\n'
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
UNIT = (DEPLOY / "banditboost.service").read_text(encoding="utf-8")
DASHBOARD = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
COUNTED = ("sum", "rate", "increase", "histogram_quantile", "by", "on", "group_left", "label_values")


def instructions(name: str) -> list[str]:
    """What stands behind an instruction of the Dockerfile, lines that go on put together."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE)
    return re.findall(rf"^{name} (.*)$", text, re.MULTILINE)


def typed(words: list[str]) -> None:
    """The program takes these words."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("banditboost", [], resilient_parsing=True)
    context.resilient_parsing = False
    command.commands[words[0]].make_context("banditboost", words[1:], parent=context)


def test_the_settings_are_taken_with_a_key_and_refused_without(tmp_path: Path) -> None:
    text = (DEPLOY / "site.toml").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text(text + KEY, encoding="utf-8")
    settings = configured(tmp_path / "site.toml", {"BANDITBOOST_SERVE_HOST": "0.0.0.0"}, {})
    assert (settings.host, settings.log_level, list(settings.models)) == ("0.0.0.0", "info", ["news"])
    with pytest.raises(Exception, match="there is no key"):
        configured(DEPLOY / "site.toml", {"BANDITBOOST_SERVE_HOST": "0.0.0.0"}, {})


def test_the_image_starts_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    entry, command = (json.loads(instructions(name)[0]) for name in ("ENTRYPOINT", "CMD"))
    assert entry == ["banditboost", "serve"]
    typed([*entry[1:], *command])
    variables = dict(line.split("=", 1) for line in instructions("ENV"))
    monkeypatch.setenv("XDG_DATA_HOME", variables["XDG_DATA_HOME"])
    assert str(data_directory()) == instructions("VOLUME")[0]
    assert f"mkdir -p {data_directory()}" in instructions("RUN")
    extras = re.search(r'"/src\[([\w,]+)\]"', DOCKERFILE)
    assert extras is not None
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras[1].split(",")) <= set(project["optional-dependencies"])
    warmed = next(run.split() for run in instructions("RUN") if "warm" in run)
    assert set(warmed[2:]) <= set(ALL_MODELS)
    typed(warmed[1:])
    environment = {name: value for name, value in variables.items() if name.startswith("BANDITBOOST_SERVE_")}
    with pytest.raises(Exception, match="there is no key"):  # so the variable is read
        configured(None, environment, {})
    assert instructions("EXPOSE") == [str(ServiceSettings().port)]
    code = json.loads(instructions("HEALTHCHECK")[0].partition("CMD ")[2])[2]
    compile(code, "HEALTHCHECK", "exec")
    assert f"127.0.0.1:{ServiceSettings().port}/health/ready" in code


def test_what_the_image_is_built_from_is_there() -> None:
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert lines[0] == "*"
    assert all((DEPLOY.parent / name).exists() for name in kept)
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"pyproject.toml", "src", project["readme"], *project["license-files"]} == set(kept)


def test_the_processes_of_the_compose_file_find_the_database() -> None:
    database, serve = COMPOSE["services"]["postgres"], COMPOSE["services"]["serve"]
    user, name = (database["environment"][f"POSTGRES_{what}"] for what in ("USER", "DB"))
    environment = {key: value for key, value in serve["environment"].items() if key.startswith("BANDIT")}
    settings = configured(None, environment, {})
    assert settings.store == f"postgresql://{user}@postgres/{name}"
    assert serve["environment"]["PGPASSWORD"] == database["environment"]["POSTGRES_PASSWORD"]
    assert (DEPLOY / serve["build"]["context"]).resolve() == DEPLOY.parent
    assert (DEPLOY.parent / serve["build"]["dockerfile"]).exists()
    source, target, _ = serve["volumes"][0].split(":")
    assert (DEPLOY / source).exists()
    assert json.loads(instructions("CMD")[0]) == ["--config", target]
    first, last = re.findall(r":(\d+)-(\d+):8730$", serve["ports"][0])[0]
    assert int(last) - int(first) + 1 == serve["deploy"]["replicas"]
    assert set(COMPOSE["volumes"]) == {database["volumes"][0].partition(":")[0]}


def unit() -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string(UNIT)
    return parsed


def test_the_unit_starts_what_there_is() -> None:
    service = unit()["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert Path(program).name == "banditboost"
    typed(words)
    kept, path = service["LoadCredential"].split(":")
    assert words[-1] == f"${{CREDENTIALS_DIRECTORY}}/{kept}"
    assert f"install -D -m 640 deploy/{kept} {path}" in UNIT
    variables = dict(one.split("=") for one in service["Environment"].split())
    assert variables == {"XDG_DATA_HOME": "%S", "XDG_CACHE_HOME": "%C"}
    assert service["StateDirectory"] == service["CacheDirectory"] == "banditboost"
    assert data_directory().parts[-2] == service["StateDirectory"], "it is below the folder that it may write"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    there = UNIT.replace(shlex.split(unit()["Service"]["ExecStart"])[0], "/bin/true")
    (tmp_path / "banditboost.service").write_text(there, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "banditboost.service")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    wrong = there.replace("DynamicUser=yes", "DynamcUser=yes")
    (tmp_path / "banditboost.service").write_text(wrong, encoding="utf-8")
    told = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "banditboost.service")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "DynamcUser" in told.stderr


def test_they_say_that_they_are_not_built_in_ci() -> None:
    for text in (DOCKERFILE, (DEPLOY / "compose.yaml").read_text(encoding="utf-8"), UNIT):
        assert re.search(r"[Nn]ot (built|run|started) in our CI", text)
    listed = re.findall(
        r"^\| `([\w.]+)` \|", (DEPLOY / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    there = {path.name for path in DEPLOY.iterdir()} - {"README.md", "Dockerfile.dockerignore"}
    assert set(listed) == there


# The dashboard


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """The labels of each sample that a service tells after some traffic, by name."""
    settings = ServiceSettings(models={"news": ModelSettings(labels=["a", "b"], seed=1)})
    service = SoloService(settings, SQLiteStore(tmp_path_factory.mktemp("store")))
    with (
        serving(create_app(service)) as address,
        httpx.Client(base_url=f"{address}/v1/models/news") as client,
    ):
        decided = client.post("/decisions", json={"features": {"hour": 3}}).json()
        client.post(f"/decisions/{decided['id']}/verdict", json={"correct": True})
        client.post("/decisions", json={"features": 3})
        text = httpx.get(f"{address}/metrics").text
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def questions() -> Iterator[str]:
    """What the dashboard asks Prometheus."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def asked(question: str) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """The metrics of a question, each with what is said of its labels."""
    bare = re.sub(r"\b(by|on|group_left) \([\w, ]*\)", "", question)
    bare = bare.replace("[$__rate_interval]", "")
    if bare.startswith("label_values("):
        metric, label = re.findall(r"\w+", bare.removeprefix("label_values"))
        yield metric, [(label, "=~", "")]
        return
    for metric, labels in re.findall(r"([a-z_]\w+)(?:\{(.*?)\}(?=[^\w/]|$))?", _outside_quotes(bare)):
        if metric not in COUNTED:
            yield (
                metric,
                [
                    (name, sign, QUOTED[int(place)])
                    for name, sign, place in re.findall(r"(\w+)(=~|=)<(\d+)>", labels)
                ],
            )


QUOTED: list[str] = []


def _outside_quotes(text: str) -> str:
    def kept(found: re.Match[str]) -> str:
        QUOTED.append(found[1])
        return f"<{len(QUOTED) - 1}>"

    return re.sub(r'"([^"]*)"', kept, text)


@pytest.mark.parametrize("question", sorted(set(questions())))
def test_the_dashboard_asks_for_what_the_service_tells(
    question: str, scraped: dict[str, list[dict[str, str]]]
) -> None:
    found = list(asked(question))
    assert found
    for metric, labels in found:
        assert metric in scraped, metric
        for name, sign, value in labels:
            told = {labels[name] for labels in scraped[metric] if name in labels}
            assert name == "instance" or told, f"{metric} has no {name}"
            assert sign == "=~" or value in told, f"{metric} never has {name}={value}"
    grouped = {
        name
        for listed in re.findall(r"\b(?:by|on|group_left) \(([\w, ]*)\)", question)
        for name in re.findall(r"\w+", listed)
    }
    there = {name for metric, _ in found for labels in scraped[metric] for name in labels}
    assert grouped <= there | {"instance"}


def test_the_legends_name_labels_that_are_kept(scraped: dict[str, list[dict[str, str]]]) -> None:
    known = {name for samples in scraped.values() for labels in samples for name in labels} | {"instance"}
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= known


def test_a_metric_that_nobody_tells_is_found(scraped: dict[str, list[dict[str, str]]]) -> None:
    ((metric, labels),) = asked('rate(banditboost_gone_total{instance=~"$instance", path="/a/{b}"}[1m])')
    assert metric not in scraped
    assert labels == [("instance", "=~", "$instance"), ("path", "=", "/a/{b}")]


def test_each_own_metric_is_on_the_dashboard(scraped: dict[str, list[dict[str, str]]]) -> None:
    shown = {metric for question in questions() for metric, _ in asked(question)}
    ours = {name for name in scraped if name.startswith("banditboost_")}
    beside = {"banditboost_request_seconds_count", "banditboost_request_seconds_sum"}
    assert ours - shown - beside == {"banditboost_snapshots_total"}


def test_the_page_on_deployment_names_all_files() -> None:
    text = (DOCS / "serve/deployment.md").read_text(encoding="utf-8")
    missing = {path.name for path in DEPLOY.iterdir() if f"deploy/{path.name}" not in text}
    assert missing == {"Dockerfile.dockerignore"}
