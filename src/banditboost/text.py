r"""Names as they are shown: a label, a feature, a value or a file may be called anything at all.

Whatever comes from data goes through one of these before it is printed or written, so that a name can
neither move a terminal's cursor, nor become a tag, a formula or a command. There is one function for each
kind of place:

    visible, visible_lines   terminals, logs, reprs and errors; all others begin with it
    quoted                   a value in an error: what repr says, and it never fails
    markdown, html, latex    pages and tables
    csv_cell                 a cell of a sheet
    graphviz                 a string of DOT
    figure_text              titles and legends of figures
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

_LONGEST_QUOTE = 200  # characters
_BLANKS = " \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# An underscore inside a word is one in Markdown, too.
_IN_MARKDOWN = re.compile(r"[&<>\\`*\[\]|~$]|(?<!\w)_|_(?!\w)|(?<![^\s])#")
# Where a spreadsheet may begin a cell: also behind the separators that it may take for its own.
_FORMULA = re.compile(r"(^|[,;|])(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])")
_IN_LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": "$-$",
    "ρ": r"$\rho$",
}


def visible(name: Any) -> str:
    r"""The name in one line, with an escape for each character that nobody could see.

    These are control characters, line breaks, and what turns or hides the text around it.

    >>> print(visible("a\x1b[2Jb\n\u202ec"))
    a\x1b[2Jb\n\u202ec
    >>> visible("déjà vu")
    'déjà vu'
    """
    text = name if isinstance(name, str) else _told(str, name)
    return text if text.isprintable() else "".join(map(_visible, text))


def visible_lines(text: str) -> str:
    r"""The same for text of several lines.

    >>> print(visible_lines("a\x07\nb"))
    a\x07
    b
    """
    return "\n".join(map(visible, text.split("\n")))


def quoted(value: Any) -> str:
    """A value as an error tells it: its repr, of a long one the beginning, or its type where that fails.

    >>> quoted("a"), quoted(10**5000), len(quoted("a" * 1000))
    ("'a'", 'a value of type int', 203)
    """
    text = visible_lines(_told(repr, value))
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}..."


def markdown(text: str) -> str:
    r"""Text that Markdown shows as it is: no tags, no links, no cells of a table.

    >>> print(markdown("my_file <img> |`x`"))
    my_file &lt;img&gt; \|\`x\`
    """
    return _IN_MARKDOWN.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), visible(text))


def html(text: str) -> str:
    """Text of a page, or of an attribute between double quotes.

    >>> html('<b>"')
    '&lt;b&gt;&quot;'
    """
    return escape(visible(text))


def latex(text: str) -> str:
    r"""Text that LaTeX sets as it is written here.

    >>> print(latex("5 % of $x_1"))
    5 \% of \$x\_1
    """
    return "".join(_IN_LATEX.get(letter, letter) for letter in visible(text))


def csv_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: an apostrophe says that it is text.

    Numbers stay as they are, also those that are written as text.

    >>> csv_cell("=1+2"), csv_cell("-0.5"), csv_cell(-0.5)
    ("'=1+2", '-0.5', -0.5)
    """
    if not isinstance(value, str) or _is_number(value):
        return value
    return _FORMULA.sub(r"\1'", visible(value))


def graphviz(text: str) -> str:
    r"""A string of DOT, quotes included.

    >>> print(graphviz('say "a\\b"'))
    "say \"a\\b\""
    """
    escaped = visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{escaped}"'


def figure_text(text: str, longest: int = 48) -> str:
    r"""Text that Matplotlib draws as it is: a dollar begins no formula, an underscore hides no entry.

    A name that would push the figure out of its frame is cut to `longest` characters.

    >>> print(figure_text("$5"))
    \$5
    """
    shown = visible(text)
    shown = shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "round"), counted(2000, "round")
    ('1 round', '2,000 rounds')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _told(tell: Any, value: Any) -> str:
    """What str or repr says; integers of thousands of digits, and odd objects, refuse to say anything."""
    try:
        return str(tell(value))
    except Exception:
        return f"a value of type {type(value).__name__}"


def _visible(letter: str) -> str:
    if letter.isprintable() or letter in _BLANKS:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and text.isprintable()
