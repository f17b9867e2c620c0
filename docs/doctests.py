"""A griffe extension: examples in docstrings become code blocks on the site. (Markdown takes `>>>` for a quotation.)"""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLES = re.compile(r"^( *)>>> .*?(?=\n *\n|\Z)", re.MULTILINE | re.DOTALL)


def fenced(docstring: str) -> str:
    """The docstring with a fence around every block of examples."""
    return _EXAMPLES.sub(lambda block: f"{block[1]}```pycon\n{block[0]}\n{block[1]}```", docstring)


class Doctests(griffe.Extension):
    """Looks at every object that is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
