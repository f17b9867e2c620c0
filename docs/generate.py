"""`python docs/generate.py` (`make docs`): docs/cli.md, from what every command says to --help, and the tables of
docs/serve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from banditboost.cli.app import app

PAGE = Path(__file__).parent / "cli.md"
WIDTH = 88  # what a page has room for beside its two menus
HEAD = """# The command line

Installed with `pip install 'banditboost[cli]'`. This page is what `--help` says, written by `make docs`.

- Results go to stdout, everything else to stderr. Progress is shown on a terminal only. `--json` prints one
  JSON object.
- Exit codes: 0 done; 1 it could not be done (a file, the data, a parameter); 2 the command line is wrong; 130
  stopped with Ctrl-C. An error is one line that names the remedy, and leaves nothing behind.
- Ctrl-C loses at most the runs under way: the same command goes on (`run`: with `--save`, and it says how).
- Every command takes `--seed`, so that scripts can give all of them the same options; `data list`,
  `data check`, `model show` and `audit` draw nothing at random. Only `serve key` takes none: a key must be new.
- Names of columns are typed with commas between them; one with a comma in it in quotes, as in a CSV file:
  `--ignore 'id,"name, first"'`.
- A learner of your own is named `MODULE:CLASS`, and is looked for in the current directory, too
  ([experiments](experiments.md#a-learner-of-your-own)).
"""


def page() -> str:
    """The whole text."""
    return HEAD + "".join(
        f"\n## {name}\n\n```text\n{text}\n```\n"
        for name, text in sections(typer.main.get_command(app), "banditboost")
    )


def sections(command: Any, name: str, parent: Any = None) -> list[tuple[str, str]]:
    """Name and help of a command and of all below it."""
    context = command.make_context(
        name.split()[-1], [], parent=parent, resilient_parsing=True, terminal_width=WIDTH
    )
    found = [(name, command.get_help(context).rstrip())]
    for part, child in getattr(command, "commands", {}).items():
        found += sections(child, f"{name} {part}", context)
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
    from service_tables import write  # beside this file

    write()
