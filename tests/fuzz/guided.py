"""Cases that atheris makes: what reaches new lines of the package is kept, and changed further.

A process of its own instruments the package when it imports it, and plays one door.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz import harness
from tests.fuzz.harness import Report
from tests.fuzz.luck import random_case

LONGEST = 512  # bytes of a case
_SEEDS = 64  # random cases to begin with
ROOT = Path(__file__).parents[2]


def is_there() -> bool:
    return importlib.util.find_spec("atheris") is not None


def play(name: str, seed: int, seconds: float) -> Report:
    """Play guided cases of a door for so long, in processes of their own."""
    report, began = Report(), time.time()
    with harness.scratch_folder() as folder:
        log, corpus = Path(folder) / "log", Path(folder) / "corpus"
        _plant(corpus, name, seed)
        while time.time() < began + seconds:
            log.write_text("")
            arguments = [name, log, corpus, seed, began + seconds]
            command = [sys.executable, "-m", "tests.fuzz.guided", *map(str, arguments)]
            ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            report.add(_read_log(name, log))
            if ended.returncode:
                report.note(name, *_of_dead_process(ended, corpus.parent))
            seed += 1
    report.seconds = time.time() - began
    return report


def _plant(corpus: Path, name: str, seed: int) -> None:
    corpus.mkdir()
    for number in range(_SEEDS):
        data = b"".join(random_case(seed, name, -1 - number * 32 - part) for part in range(32))
        (corpus / f"seed-{number}").write_bytes(data)


def _read_log(name: str, log: Path) -> Report:
    report = Report()
    for line in log.read_text().splitlines():
        data, outcome, what = json.loads(line)
        report.note(name, bytes.fromhex(data), outcome, what)
    return report


def _of_dead_process(ended: subprocess.CompletedProcess[str], folder: Path) -> tuple[bytes, str, str]:
    """The case that a process died of: libFuzzer has written it into a file."""
    found = re.search(r"Test unit written to (\S+)", ended.stderr)
    data = Path(found[1]).read_bytes() if found else b""
    why = re.search(r"ERROR: (.*)", ended.stderr)
    outcome = f"FOUND guided process: {why[1] if why else f'exit code {ended.returncode}'}"
    return data, outcome, f"{outcome}\n{ended.stderr[-1_500:]}\n(in {folder})"


# The process that plays


def _kernel_modules() -> set[str]:
    """Modules with functions that are compiled: their bytecode has to stay what it is."""
    source = ROOT / "src"
    return {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for path in source.glob("banditboost/**/*.py")
        if re.search(r"numba|banditboost\.compiled|namedtuple|NamedTuple", path.read_text())
    }


def _import_instrumented() -> None:
    import atheris

    everything = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "src").glob("banditboost/**/*.py")
    }
    with atheris.instrument_imports(include=sorted(everything - _kernel_modules())):
        for module in (
            "cli.app",
            "datasets",
            "decision",
            "experiments.results",
            "loading",
            "pending",
            "rows.schema",
        ):
            importlib.import_module(f"banditboost.{module}")


class _Player:
    """Plays cases, and writes a line about each."""

    def __init__(self, name: str, log: Path) -> None:
        from tests.fuzz import doors

        self._door, self._log, self._folder = doors.door(name), log.open("a"), log.parent / "scratch"
        self._folder.mkdir(exist_ok=True)
        self._door.prepare()

    def __call__(self, data: bytes) -> None:
        outcome, what = harness.outcome_of(self._door, data, self._folder)
        self._log.write(json.dumps([data.hex() if what else "", outcome, what]) + "\n")
        self._log.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description="Play guided cases of one door; called by tests.fuzz.")
    for name, kind in (("door", str), ("log", Path), ("corpus", Path), ("seed", int), ("ends", float)):
        parser.add_argument(name, type=kind)
    given = parser.parse_args()
    import atheris

    _import_instrumented()
    player = _Player(given.door, given.log)
    harness.limit_memory()
    seconds = max(1, round(given.ends - time.time()))  # what importing and compiling have left
    options = [
        f"-max_total_time={seconds}", f"-seed={given.seed}", f"-max_len={LONGEST}", "-rss_limit_mb=0",
        f"-timeout={harness.MOST_WAITING}", f"-artifact_prefix={given.corpus.parent}/", "-len_control=0", "-detect_leaks=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(given.corpus)], player)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
