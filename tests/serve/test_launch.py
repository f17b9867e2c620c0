"""`banditboost serve` as users start it: a process, the lines that it prints, signals, and refusals."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from banditboost.client import Client, ServiceRefusal
from banditboost.serve.http.auth import hash_of

ROOT = Path(__file__).parents[2]
MAIN = "from banditboost.cli import main; main()"


@contextmanager
def served(
    tmp_path: Path, *words: str, stop: int = signal.SIGTERM, **options: Any
) -> Iterator[dict[str, str]]:
    """What a service prints at its start; it is stopped by a signal at the end, and leaves with 0."""
    command = [
        sys.executable,
        "-c",
        options.pop("code", MAIN),
        "serve",
        "--json",
        "--port",
        "0",
        "--store",
        str(tmp_path / "store"),
    ]
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True, **options)
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], 120)
        assert ready, "it did not start"
        yield json.loads(process.stdout.readline())
        process.send_signal(stop)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def shell(line: str, **environment: str) -> Any:
    """The JSON that a line typed into a shell prints."""
    told = subprocess.run(
        ["sh", "-c", line.replace("curl ", "curl -sS ", 1)],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ | environment,
    )
    return json.loads(told.stdout)


def test_lines_as_printed_work_and_a_restart_forgets_nothing(tmp_path: Path) -> None:
    with served(tmp_path, "--labels", "sports,politics,science") as told:
        decision = shell(told["decide"])
        assert decision["label"] in ("sports", "politics", "science")
        assert shell(told["verdict"]) == {"id": decision["id"], "outcome": "learned"}
        assert told["page"].startswith("http://127.0.0.1:")
    with served(tmp_path) as again:
        line = told["decide"].replace(told["page"], again["page"])
        assert shell(line) == decision | {"repeated": True}


def test_too_many_connections_are_told_to_come_back_and_leave_files_for_the_store(tmp_path: Path) -> None:
    """Connections that say nothing: somebody else is refused, and nothing breaks; when they are gone, all is
    well. The process may have fewer files than its limit asks for.
    """
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (128, 330)); {MAIN}"
    with served(tmp_path, "--labels", "a,b", code=few) as told:
        place = httpx.URL(told["page"])
        at, asked = f"{place}v1/models/default/decisions", {"features": {}}
        with ExitStack() as idle:
            for _ in range(150):
                idle.enter_context(socket.create_connection((place.host, place.port)))
            refused = httpx.post(at, json=asked, timeout=30)
            assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
            assert refused.headers["retry-after"] == "1"
            for _ in range(250):
                idle.enter_context(socket.create_connection((place.host, place.port)))
            with pytest.raises(httpx.TransportError):
                httpx.post(at, json=asked, timeout=30)
        with Client(str(place)) as client:
            assert client.learn(client.decide({}), correct=True) == "learned"
            assert client.log().count(b"@reward") == 1


def test_with_keys_the_lines_take_one(tmp_path: Path) -> None:
    config = tmp_path / "site.toml"
    config.write_text(
        f'[[keys]]\nhash = "{hash_of("secret")}"\nroles = ["decide", "learn"]\n'
        '[models.news]\nlabels = ["a", "b"]\n',
        encoding="utf-8",
    )
    with served(tmp_path, "--config", str(config), stop=signal.SIGINT) as told:
        assert shell(told["decide"], KEY="wrong")["status"] == 401
        decision = shell(told["decide"], KEY="secret")
        assert shell(told["verdict"], KEY="secret")["outcome"] == "learned"
        with Client(told["page"], key="secret", model="news") as client:
            assert client.learn(decision["id"], True) == "duplicate"
            with pytest.raises(ServiceRefusal, match="role"):
                client.show()


def test_a_model_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    with served(tmp_path, "--labels", "a,b", "--window", "5", "--seed", "3"):
        pass
    with (
        (tmp_path / "said").open("w") as said,
        served(tmp_path, "--labels", "a,b,c", "--seed", "3", stderr=said) as told,
        Client(told["page"]) as client,
    ):
        assert (client.show().settings["window"], client.show().labels) == (5, ["a", "b"])
    assert "keeps its labels (['a', 'b'])" in (tmp_path / "said").read_text()


def _refused(*words: str, **options: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-c", options.pop("code", MAIN), "serve", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )
    assert done.returncode in (1, 2), done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def test_refusals_are_one_line_with_a_remedy(tmp_path: Path) -> None:
    store = ("--port", "0", "--store", str(tmp_path / "store"))
    assert "give at least two" in _refused(*store, "--labels", "a")
    assert "there is no key; make one" in _refused(*store, "--host", "0.0.0.0")
    assert "--sync: sync: " in _refused(*store, "--sync", "never")
    assert "gone.toml" in _refused("--config", str(tmp_path / "gone.toml"))
    with served(tmp_path) as told:
        assert "another process uses this folder" in _refused(*store)
        port = told["page"].rstrip("/").rpartition(":")[2]
        assert "give another with --port" in _refused("--port", port, "--store", str(tmp_path / "other"))


def test_without_the_extra_one_line_says_what_to_install() -> None:
    line = _refused("--labels", "a,b", code=f"import sys; sys.modules['starlette'] = None; {MAIN}")
    assert line == "error: the service needs starlette; install it with: pip install 'banditboost[serve]'"


def test_a_key_that_was_made_is_one_that_opens(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-c", MAIN, "serve", "key", "--roles", "read,admin", "--name", 'the "page"'],
        check=True,
        capture_output=True,
        text=True,
    )
    config = tmp_path / "site.toml"
    config.write_text(f"port = 0{made.stdout}", encoding="utf-8")
    key = made.stderr.splitlines()[0].removeprefix("key: ")
    assert key not in made.stdout, "it would stay in the file"
    with served(tmp_path, "--config", str(config)) as told, Client(told["page"], key=key) as client:
        assert client.models() == []


def test_it_says_what_it_does_in_lines_of_json(tmp_path: Path) -> None:
    """Nothing unless it is asked for, or something goes wrong."""
    with (tmp_path / "quiet").open("w") as quiet, served(tmp_path, stderr=quiet):
        pass
    assert (tmp_path / "quiet").read_text() == ""
    environment = os.environ | {"BANDITBOOST_SERVE_LOG_LEVEL": "debug"}
    with (
        (tmp_path / "said").open("w") as said,
        served(tmp_path, "--labels", "a,b", stderr=said, env=environment) as told,
        Client(told["page"]) as client,
    ):
        client.decide({"hour": 3})
    lines = [json.loads(line) for line in (tmp_path / "said").read_text().splitlines()]
    ours = {line["message"]: line for line in lines if line["logger"].startswith("banditboost")}
    assert ours.keys() == {"started", "request", "stopped"}
    assert ours["started"]["address"] == told["page"].rstrip("/")
    assert (ours["request"]["model"], ours["request"]["status"]) == ("default", 200)


WITH_THE_EXTRA_ALONE = f"""
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError("not in the extra: " + name, name=name)
sys.meta_path.insert(0, Nothing())
{MAIN}
"""


def installed_with(extra: str) -> set[str]:
    """The distributions that an extra brings, and theirs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"][extra]]
    found = {"banditboost"}
    while wanted:
        asked = Requirement(wanted.pop())
        name = canonicalize_name(asked.name)
        if name not in found:
            found.add(name)
            extras = asked.extras or {""}
            wanted += [
                text
                for text in distribution(name).requires or []
                if (marker := Requirement(text).marker) is None
                or any(marker.evaluate({"extra": one}) for one in extras)
            ]
    return found


def test_the_extra_brings_all_that_it_takes(tmp_path: Path) -> None:
    there = installed_with("serve")
    hidden = {
        module
        for module, names in packages_distributions().items()
        if not there & {canonicalize_name(name) for name in names} and module != "banditboost"
    }
    assert {"matplotlib", "pyarrow", "psycopg", "sklearn"} <= hidden
    code = WITH_THE_EXTRA_ALONE.replace("HIDDEN", repr(hidden))
    with served(tmp_path, "--labels", "a,b", code=code) as told:
        assert shell(told["decide"])["label"] in ("a", "b")
        assert shell(told["verdict"])["outcome"] == "learned"


TOLD_TO_STOP = """
import signal, sys
from pathlib import Path
from banditboost.serve.launch import run
from banditboost.serve.settings import ServiceSettings

async def announce(service, address):
    signal.raise_signal(signal.SIGTERM)

run(ServiceSettings(port=0, store=sys.argv[1], personalizer=None), announce)
print("stopped")
"""


def test_it_may_be_told_to_stop_while_it_is_announced(tmp_path: Path) -> None:
    """Who reads its address may stop it at once; it stops as always."""
    done = subprocess.run([sys.executable, "-c", TOLD_TO_STOP, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr
