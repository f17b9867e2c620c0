"""A real browser, where there is one: a script looks at pages and tells what it finds."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
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
    "--enable-logging=stderr",
    "--window-size=1400,1000",
]
_SECONDS = 240  # on a busy machine
# The script finds the frame, which is empty at first, and calls tell, once.
_PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<iframe id="frame" style="border:0;width:WIDTHpx;height:900px"></iframe>
<script>
const tell = found => fetch("/", {method: "POST", body: JSON.stringify(found)});
window.onerror = window.onunhandledrejection = event => tell(String(event.reason ?? event));
SCRIPT
</script>"""

# `contrast` is that of a text on what is behind it, as WCAG 2 counts it.
CONTRAST = """
const brush = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const paint = layers => {
  for (const colour of ["white", ...layers]) { brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1); }
  return brush.getImageData(0, 0, 1, 1).data;
};
const light = colour => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
  const part = colour[i] / 255;
  return sum + share * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
}, 0);
const contrast = e => {
  const behind = [];
  for (let p = e; p; p = p.parentElement) behind.unshift(getComputedStyle(p).backgroundColor);
  const lights = [light(paint(behind)), light(paint([...behind, getComputedStyle(e).color]))];
  return (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
};
"""


def look(folder: Path, width: int, script: str, *, dark: bool = False) -> tuple[Any, str]:
    """What a script tells about the pages of a folder, shown in a frame of this width, and the browser's
    log.
    """
    told: queue.SimpleQueue[Any] = queue.SimpleQueue()
    page = _PAGE.replace("WIDTH", str(width)).replace("SCRIPT", script).encode()
    handler = partial(_Server, page, told, directory=str(folder))
    with tempfile.TemporaryFile("w+") as log, ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            found = _ask(f"http://127.0.0.1:{server.server_port}{_Server.START}", dark, log, told)
        finally:
            server.shutdown()
        log.seek(0)
        return found, log.read()


def _ask(address: str, dark: bool, log: Any, told: queue.SimpleQueue[Any]) -> Any:
    # The browser may still write into its profile while it ends.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        command = [str(BROWSER), *_FLAGS, scheme, f"--user-data-dir={profile}", address]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log) as browser:
            try:
                return told.get(timeout=_SECONDS)
            finally:
                browser.terminate()


class _Server(SimpleHTTPRequestHandler):
    """The folder, the page that looks at it, and an ear for what it finds."""

    START = "/start-of-the-test.html"

    def __init__(self, page: bytes, told: queue.SimpleQueue[Any], *args: Any, **options: Any) -> None:
        self._page, self._told = page, told
        super().__init__(*args, **options)

    def do_GET(self) -> None:
        if self.path == self.START:
            self._answer(self._page)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self._told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(b"")

    def _answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""
