"""`python docs/record.py`: pictures of a terminal in which commands were typed, for the README and the guides.

What was measured is left out, so that a picture changes only when the program does.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from example_log import run_examples
from rich.console import Console
from rich.text import Text

FIGURES = Path(__file__).parent / "figures"
EVALUATE = "evaluate clicks.csv --action banner --reward clicked --probability p --least 0.16"
PICTURES = {"run-car.svg": ("run car", 84), "evaluate-clicks.svg": (EVALUATE, 102)}
"""By their names: what is typed, and how many characters the terminal is wide."""
MEASURED = ("speed",)


def answer(typed: str, width: int, folder: str) -> str:
    """What a command says, with its colours."""
    code = "from banditboost.cli import main; main()"
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(width - 4)}
    command = [sys.executable, "-c", code, *shlex.split(typed)]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment, cwd=folder
    ).stdout


def repeatable(text: str) -> str:
    """The lines that are the same in every run."""
    plain = [(line, Text.from_ansi(line).plain) for line in text.splitlines()]
    return "\n".join(line for line, words in plain if not words.startswith(MEASURED))


def draw(text: str, typed: str, width: int) -> str:
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(Text.assemble(("$ ", "green"), (f"banditboost {typed}", "bold")))
    console.print(Text.from_ansi(text))
    picture = console.export_svg(title="banditboost", unique_id="terminal")
    # The fonts that rich links to would be fetched from another site.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_examples(folder)
        for name, (typed, width) in PICTURES.items():
            said = repeatable(answer(typed, width, folder))
            (FIGURES / name).write_text(draw(said, typed, width), encoding="utf-8")
            print(FIGURES / name)


if __name__ == "__main__":
    main()
