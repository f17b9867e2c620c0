"""Records of what was measured: JSON lines in docs/results, from which `make numbers` fills the pages.

Every line tells its machine, date, command and source. The source is "measured" if a benchmark wrote the
line; otherwise it says where the numbers were copied from.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs/results"
MEASURED = "measured"
Record = dict[str, Any]


def path_of(name: str) -> Path:
    """The record of a benchmark: `rounds` -> docs/results/rounds.jsonl."""
    return FOLDER / f"{name}.jsonl"


def about(machine: Mapping[str, str], command: str) -> Record:
    """What every line says beside its numbers."""
    return {
        "machine": dict(machine),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "source": MEASURED,
    }


def add_option(parser: argparse.ArgumentParser, name: str) -> None:
    """`--record`: to the benchmark's own file, or to another one."""
    text = f"keep what was measured, for the pages (in docs/results/{name}.jsonl unless a path is given)"
    parser.add_argument("--record", type=Path, nargs="?", const=path_of(name), metavar="PATH", help=text)


def typed(module: str, arguments: Sequence[str] | None) -> str:
    """The command that was typed."""
    return shlex.join(["python", "-m", module, *(sys.argv[1:] if arguments is None else arguments)])


def read(path: Path) -> list[Record]:
    """The lines of a file, in their order; none if it is not there."""
    if not path.exists():
        return []
    text = (
        gzip.decompress(path.read_bytes()).decode()
        if path.suffix == ".gz"
        else path.read_text(encoding="utf-8")
    )
    return [json.loads(line) for line in text.splitlines()]


def update(path: Path, lines: Iterable[Record], key: Sequence[str]) -> None:
    """Write lines in place of those with the same key; the others stay, so parts may be measured."""
    kept = {_key(line, key): line for line in read(path)}
    kept.update({_key(line, key): line for line in lines})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept.values()), encoding="utf-8"
    )


def _key(line: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(line[name] for name in names)
