"""A griffe extension: docstrings as the site wants them."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLES = re.compile(r"^( *)>>> .*?(?=\n *\n|\Z)", re.MULTILINE | re.DOTALL)
_ARGUMENTS = re.compile(r"^( +)(\w+(?:, \w+)+): (.*)$", re.MULTILINE)


def fenced(docstring: str) -> str:
    """A fence around every block of examples, since Markdown takes `>>>` for a quotation."""
    return _EXAMPLES.sub(lambda block: f"{block[1]}```pycon\n{block[0]}\n{block[1]}```", docstring)


def parted(docstring: str) -> str:
    """A line for each of several arguments that are explained in one."""
    return _ARGUMENTS.sub(
        lambda line: "\n".join(f"{line[1]}{name}: {line[3]}" for name in line[2].split(", ")), docstring
    )


class Docstrings(griffe.Extension):
    """Looks at every object that is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(parted(obj.docstring.value))
