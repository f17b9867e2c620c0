"""A real browser that is driven: pages are opened, keys pressed, and what they ask for and complain of is heard."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.browser import BROWSER

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]
_SECONDS = 120.0  # on a busy machine
_KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowRight": 39,
}


class Page:
    """A tab of the browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._asked = socket, 0
        self.requests: list[str] = []
        """The addresses that pages have asked for."""
        self.complaints: list[str] = []
        """Errors and warnings of the console, and exceptions."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Have the browser do something."""
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._socket.recv(_SECONDS))
            if told.get("id") == self._asked:
                assert "error" not in told, told
                return told["result"]
            self._hear(told)

    def _hear(self, told: dict[str, Any]) -> None:
        method, what = told.get("method"), told.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{what['entry']['text']} {what['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(what["args"]))

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Have the page shown at this size, in light or in dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[scheme, still])

    def open(self, address: str) -> None:
        """Go to an address, from elsewhere."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of an expression; promises are waited for."""
        told = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, script: str) -> Any:
        """The value of an expression, as soon as it is something."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        told = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **told, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def write(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, file: Path, width: int, height: int) -> None:
        """Save what is shown as PNG."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        told = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(told["data"]))


@contextmanager
def browsing() -> Iterator[Page]:
    """A tab of a browser that has seen nothing yet."""
    # The browser may still write into its profile while it ends.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [str(BROWSER), *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            try:
                with connect(_tab(Path(profile)), max_size=None) as socket:
                    yield Page(socket)
            finally:
                browser.terminate()


def _tab(profile: Path) -> str:
    told, end = profile / "DevToolsActivePort", time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if told.exists() and (port := told.read_text().partition("\n")[0]):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=_SECONDS) as answer:
                tabs = [tab for tab in json.loads(answer.read()) if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise AssertionError("the browser does not answer")
