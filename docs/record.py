"""`python docs/record.py`: a picture of a terminal in which `banditboost run car` was typed, for the README."""

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


def main() -> None:
    code = "from banditboost.cli import main; main()"
    environment = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"}
    shown = subprocess.run(
        [sys.executable, "-c", code, *COMMAND], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    console = Console(record=True, width=84, file=io.StringIO())
    console.print(Text.assemble(("$ ", "green"), ("banditboost run car", "bold")))
    console.print(Text.from_ansi(shown.stdout))
    picture = console.export_svg(title="banditboost")
    # The fonts that rich links to would be fetched from another site.
    PICTURE.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL), encoding="utf-8")
    print(PICTURE)


if __name__ == "__main__":
    main()
