"""Somebody who types what a page says, line by line, beside a service that the page has them start."""

from __future__ import annotations

import contextlib
import doctest
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import numba

from banditboost.client import Client
from tests.docs.pages import Block
from tests.serve.postgresql import BINARIES, free_port

PORTS = ("8730", "8731")
"""Where pages have services listen; here they listen elsewhere."""
DATABASE = "postgresql://banditboost@db.internal/banditboost"
MAIN = "from banditboost.cli import main; main()"
_SQLITE = "import sqlite3, sys\nsqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])\n"
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_ELSEWHERE = ("pip", "docker", "install", "sudo")  # what cannot be typed here
_SECONDS = 120


class Walker:
    """A home of its own, with a shell and a Python.

    Args:
        home: an empty folder.
        database: the URL of a PostgreSQL, if the page needs one.
    """

    def __init__(self, home: Path, database: str = "") -> None:
        self._home, self._database = home, database
        self._ports = {port: str(free_port()) for port in PORTS}
        self._globals: dict[str, Any] = {"__name__": "__main__"}
        self._started: dict[str, tuple[list[str], subprocess.Popen[bytes]]] = {}
        self._said = ""
        self.ran: list[str] = []
        """Commands that were carried out."""
        self._make_home()

    def _make_home(self) -> None:
        programs = self._home / "bin"
        programs.mkdir()
        for name, arguments in (("banditboost", f"-c {shlex.quote(MAIN)}"), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        if shutil.which("sqlite3") is None:  # the same, without its own commands
            shell = programs / "sqlite3"
            shell.write_text(f"#!{sys.executable}\n{_SQLITE}", encoding="utf-8")
            shell.chmod(0o755)
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("XDG_DATA")},
            "HOME": str(self._home),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
            "NUMBA_DISABLE_JIT": str(int(numba.config.DISABLE_JIT)),
            "PATH": f"{programs}:{BINARIES}:{os.environ['PATH']}",
            "BANDITBOOST_SERVE_PORT": self._ports["8730"],
        }

    def type(self, block: Block, file: str = "site.toml") -> None:
        """Do what a block says."""
        text = self._here(block.text)
        if block.language == "pycon":
            self._python(text)
        elif block.language == "sh":
            self._shell(text)
        elif block.language == "toml":
            (self._home / file).write_text(text, encoding="utf-8")
        elif self._said:
            self._compare(text)
        if block.language != "sh":
            self._said = ""

    def _here(self, text: str) -> str:
        for port, free in self._ports.items():
            text = text.replace(port, free)
        if DATABASE in text:
            assert self._database, "the page needs a database"
            text = text.replace(DATABASE, self._database)
        return text

    def _compare(self, text: str) -> None:
        """A block of text behind commands is what they say."""
        checker, text = doctest.OutputChecker(), text.replace(',\n"', ',"')  # long lines of JSON are broken
        assert checker.check_output(text, self._said, _FLAGS), f"{self._said}\nis not\n{text}"

    def _python(self, text: str) -> None:
        test = doctest.DocTestParser().get_doctest(text, self._globals, "page", "page", 0)
        told: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        with contextlib.chdir(self._home):
            found = runner.run(test, out=told.append, clear_globs=False)
        self._globals = test.globs
        assert found.failed == 0, "".join(told)

    def _shell(self, text: str) -> None:
        self._said, waiting = "", list[str]()
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words or words[0] in _ELSEWHERE:
                continue
            self.ran.append(words[0])
            if words[:2] == ["banditboost", "serve"] and words[2:3] != ["key"]:
                self._carry_out(waiting)
                port = self._start(words)
                self._said += (self._home / f"said-{port}").read_text()
            elif words[0] == "systemctl":
                self._carry_out(waiting)
                self._switch(words)
            else:
                waiting.append(line)
        self._carry_out(waiting)

    def _carry_out(self, lines: list[str]) -> None:
        if lines:
            script = "\n".join(f"{line}\necho" if line.startswith("curl") else line for line in lines)
            done = subprocess.run(
                ["sh", "-e", "-c", script],
                check=False,
                capture_output=True,
                text=True,
                cwd=self._home,
                env=self._environment,
                timeout=_SECONDS,
            )
            assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
            self._said += done.stdout
            lines.clear()

    def _start(self, words: list[str]) -> str:
        port = words[words.index("--port") + 1] if "--port" in words else self._ports["8730"]
        log = (self._home / f"said-{port}").open("ab")
        with log:
            process = subprocess.Popen(
                [os.path.expanduser(word.replace("~", str(self._home))) for word in words],
                stdout=log,
                stderr=log,
                cwd=self._home,
                env=self._environment,
                executable=self._home / "bin/banditboost",
            )
        self._started[port] = words, process
        end = time.monotonic() + _SECONDS
        while not _is_ready(port):
            said = (self._home / f"said-{port}").read_text()
            assert process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(0.1)
        return port

    def _switch(self, words: list[str]) -> None:
        """`systemctl stop` and `start` are about the services that were started before."""
        assert words[2:] == ["banditboost"]
        for port, (command, process) in list(self._started.items()):
            if words[1] in ("stop", "restart"):
                process.send_signal(signal.SIGTERM)
                assert process.wait(_SECONDS) == 0, (self._home / f"said-{port}").read_text()
            if words[1] in ("start", "restart"):
                self._start(command)

    def leave(self) -> None:
        """End what was started."""
        for value in self._globals.values():
            if isinstance(value, Client):
                value.close()
        for _, process in self._started.values():
            process.kill()
            process.wait()


def _is_ready(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=2):
            return True
    except OSError:
        return False
