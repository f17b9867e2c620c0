"""Every door, by name.

Each takes luck and a folder, does something odd, and returns what became of it: "refused" if an error of the
package's came out, "accepted" if not. Anything else that comes out is a finding.
"""

from __future__ import annotations

import importlib

from tests.fuzz.harness import Door

NAMES = (
    "rows",
    "options",
    "parameters",
    "schemas",
    "decisions",
    "pending",
    "sequences",
    "files",
    "lives",
    "results",
    "tables",
    "logs",
)


def door(name: str) -> Door:
    """The door of this name: `play` of its module, and `prepare` if it has one."""
    module = importlib.import_module(f"tests.fuzz.doors.{name}")
    return Door(module.play, getattr(module, "prepare", lambda: None))
