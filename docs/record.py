"""`python docs/record.py`: a picture of a terminal in which `banditboost run car` was typed, for the README.

What was measured is left out, so that the picture changes only when the program does.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parent / "figures" / "run-car.svg"
COMMAND = ["run", "car"]
MEASURED = ("speed",)


def answer() -> str:
    """What the command says, with its colours."""
    code = "from banditboost.cli import main; main()"
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"}
    command = [sys.executable, "-c", code, *COMMAND]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def repeatable(text: str) -> str:
    """The lines that are the same in every run."""
    plain = [(line, Text.from_ansi(line).plain) for line in text.splitlines()]
    return "\n".join(line for line, words in plain if not words.startswith(MEASURED))


def draw(text: str) -> str:
    console = Console(record=True, width=84, file=io.StringIO())
    console.print(Text.assemble(("$ ", "green"), ("banditboost run car", "bold")))
    console.print(Text.from_ansi(text))
    picture = console.export_svg(title="banditboost", unique_id="terminal")
    # The fonts that rich links to would be fetched from another site.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def main() -> None:
    PICTURE.write_text(draw(repeatable(answer())), encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
