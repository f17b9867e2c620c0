"""Classes by name.

Tasks are plain data, so a class of the user's is written as "package.module:Class" in them.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Iterable
from functools import reduce
from types import ModuleType
from typing import Any

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_reference(text: str) -> bool:
    """Whether a text has the form "package.module:Class".

    >>> is_reference("fractions:Fraction"), is_reference("AdaBandit"), is_reference("5:20")
    (True, False, False)
    """
    return _REFERENCE.fullmatch(text) is not None


def reference_to(thing: Any) -> str:
    """The reference by which a class or a function is found again, in this process and in others.

    >>> from fractions import Fraction
    >>> reference_to(Fraction)
    'fractions:Fraction'
    """
    reference = f"{getattr(thing, '__module__', None)}:{getattr(thing, '__qualname__', '')}"
    if not is_reference(reference) or reference.startswith("__main__:") or resolve(reference) is not thing:
        raise ExperimentError(
            f"{quoted(thing)} cannot be found by other processes; define it at the top of a module, "
            "and import it from there"
        )
    return reference


def resolve(reference: str) -> Any:
    """Import what a reference names.

    >>> resolve("fractions:Fraction")(1, 2)
    Fraction(1, 2)
    """
    if not isinstance(reference, str) or not is_reference(reference):
        raise ExperimentError(f"{quoted(reference)} names no class; give it as package.module:Class")
    module, _, name = reference.partition(":")
    imported = _imported(reference, module)
    try:
        return reduce(getattr, name.split("."), imported)
    except AttributeError:
        near = difflib.get_close_matches(name, dir(imported), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "check the spelling"
        raise ExperimentError(f"{reference!r}: the module {module!r} has no {name!r}; {hint}") from None


def _imported(reference: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise ExperimentError(
                f"{reference!r}: the module {module!r} needs {error.name}; install that"
            ) from error
        raise ExperimentError(
            f"{reference!r}: there is no module {error.name!r}; install it, "
            "or put its directory into PYTHONPATH"
        ) from None
    except Exception as error:
        raise ExperimentError(
            f"{reference!r}: the module {module!r} cannot be imported: {type(error).__name__}: {error}; "
            "mend it"
        ) from error


def extend_search_path(entries: Iterable[str]) -> None:
    """Let modules also be found where another process finds them."""
    sys.path.extend(entry for entry in entries if entry not in sys.path)
