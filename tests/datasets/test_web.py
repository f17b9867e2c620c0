"""Downloads, from a server on this machine that sends whole archives and broken ones."""

import errno
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError, cache, files, web
from tests.datasets import archives
from tests.datasets.test_files import SMALL, small

pooch = pytest.importorskip("pooch", reason="pooch is not installed: pip install 'banditboost[cli]'")

ARCHIVE = archives.MAKERS["mice"](SMALL["mice"])
OTHER_ROWS = archives.MAKERS["mice"]([*SMALL["mice"], SMALL["mice"][1]])


class Handler(BaseHTTPRequestHandler):
    """What to send depends on the address."""

    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        answers: dict[str, Callable[[], None]] = {
            "/whole.zip": lambda: self.send(ARCHIVE),
            "/other.zip": lambda: self.send(OTHER_ROWS),
            "/half.zip": lambda: self.send(ARCHIVE[: len(ARCHIVE) // 2], announced=len(ARCHIVE)),
            "/short.zip": lambda: self.send(ARCHIVE[: len(ARCHIVE) // 2]),
            "/silent.zip": lambda: time.sleep(1),
            "/page.zip": lambda: self.send(b"<!DOCTYPE html><title>We moved</title>"),
        }
        answers.get(self.path, lambda: self.send_error(404))()

    def send(self, content: bytes, announced: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if announced is None else announced))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def requests() -> list[str]:
    return []


@pytest.fixture
def server(requests: list[str]) -> Iterator[str]:
    handler = type("OwnHandler", (Handler,), {"requests": requests})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    return tmp_path / "datasets"


def at(*urls: str) -> files.File:
    return replace(small("mice"), urls=urls)


def test_downloaded_once(server: str, requests: list[str], empty_cache: Path) -> None:
    first, second = (files.load(at(f"{server}/whole.zip")) for _ in range(2))
    assert (first.X.shape, first.y.tolist()) == ((2, 2), [1, 7])
    assert (second.y == first.y).all()
    assert requests == ["/whole.zip"]
    assert (empty_cache / "mice+protein+expression.zip").read_bytes() == ARCHIVE
    assert sorted(path.suffix for path in empty_cache.iterdir()) == [".npz", ".zip"]


def test_download_by_name(server: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.FILES, "mice", at(f"{server}/whole.zip"))
    assert datasets.download("mice") == empty_cache / "mice+protein+expression.zip"
    assert (
        next(fact for fact in datasets.info() if fact.name == "mice").path
        == empty_cache / "mice+protein+expression.zip"
    )


def test_second_address_after_a_failure(server: str, requests: list[str]) -> None:
    assert len(files.load(at(f"{server}/page.zip", f"{server}/whole.zip")).y) == 2
    assert requests == ["/page.zip", "/whole.zip"]


REMEDY = (
    r"; try again, or get mice\+protein\+expression\.zip "
    r"from https://archive\.ics\.uci\.edu/dataset/342 by hand, "
    r"put it into a directory, and name that with directory=\.\.\. or BANDITBOOST_DATA$"
)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("half.zip", r"stopped in the middle of the file"),
        (
            "short.zip",
            r"is not the archive that was expected, or was cut short \(BadZipFile.*\): get a fresh copy",
        ),
        (
            "other.zip",
            r"holds other rows than expected \(sha256 of its rows [0-9a-f]{64}, "
            r"not [0-9a-f]{64}\): get a fresh copy",
        ),
        ("page.zip", r"is a web page, not the data \(.*\): get a fresh copy"),
        ("gone.zip", r"answers 404 Not Found"),
    ],
)
def test_broken_download(address: str, reason: str, server: str, empty_cache: Path) -> None:
    url = f"{server}/{address}"
    with pytest.raises(
        DatasetError, match=f"^'mice' could not be downloaded: {url} {reason}{REMEDY}"
    ) as caught:
        files.load(at(url))
    assert "\n" not in str(caught.value)
    assert list(empty_cache.iterdir()) == []


def test_no_network(empty_cache: Path) -> None:
    with pytest.raises(DatasetError, match=rf"cannot be reached \(is 127\.0\.0\.1 up.*{REMEDY}"):
        files.load(at("http://127.0.0.1:9/closed.zip"))
    assert list(empty_cache.iterdir()) == []


def test_server_that_does_not_answer(server: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "TIMEOUT", 0.05)
    with pytest.raises(DatasetError, match=r"did not answer for 0\.05 seconds"):
        files.load(at(f"{server}/silent.zip"))
    assert list(empty_cache.iterdir()) == []


def test_interrupted(server: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "_checked_arrays", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.load(at(f"{server}/whole.zip"))
    assert list(empty_cache.iterdir()) == []


def test_a_failed_download_leaves_the_old_copy(server: str, empty_cache: Path) -> None:
    files.load(at(f"{server}/whole.zip"))
    with pytest.raises(DatasetError):
        files.fetch(at(f"{server}/short.zip"))
    assert (empty_cache / "mice+protein+expression.zip").read_bytes() == ARCHIVE


def test_without_pooch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        DatasetError,
        match=r"pooch, which downloads it, is not installed: pip install \"banditboost\[cli\]\", or get",
    ):
        datasets.load("mice")


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        DatasetError,
        match=r"cannot write to .*\(Not a directory\): "
        "set BANDITBOOST_CACHE to a directory that can be written",
    ):
        datasets.load("mice")


def test_disk_that_is_full(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def retrieve(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(DatasetError, match=r"could not be written to .*datasets \(No space left on device\)"):
        files.load(at("http://127.0.0.1:9/whole.zip"))
    assert list(empty_cache.iterdir()) == []


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(cache, "directory", homeless)
    with pytest.raises(DatasetError, match="no home directory to keep a download in: set BANDITBOOST_CACHE"):
        datasets.load("mice")


def test_progress_on_a_terminal(
    server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    files.load(at(f"{server}/whole.zip"))
    assert "mice+protein+expression.zip" in capsys.readouterr().err


def test_quiet_elsewhere(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    level = pooch.get_logger().level
    files.load(at(f"{server}/whole.zip"))
    assert capsys.readouterr() == ("", "")
    assert pooch.get_logger().level == level
