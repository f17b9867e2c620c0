"""Classes by name.

Tasks are plain data, so a class of the user's is written as "package.module:Class" in them.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted

_PACKAGE = Path(__file__).parents[1]
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


def typed_name(learner: str, parameters: Mapping[str, Any]) -> str:
    """A learner as it is typed on the command line.

    If it boosts a weak learner of the user's, "+module:Class" follows its name.

    >>> typed_name("AdaBandit", {"weak_learner": "mymodule:NearestMean"})
    'AdaBandit+mymodule:NearestMean'
    """
    weak_learner = parameters.get("weak_learner")
    return f"{learner}+{weak_learner}" if weak_learner else learner


def source_files(reference: str) -> list[Path]:
    """The files of the class that a reference names, and of the classes that it is made from.

    Files of this package are left out, and what has no file.
    """
    found = resolve(reference)
    files = set()
    for thing in inspect.getmro(found) if isinstance(found, type) else (found,):
        with suppress(OSError, TypeError):
            files.add(Path(inspect.getsourcefile(thing) or ""))
    return sorted(path for path in files if path.is_file() and _PACKAGE not in path.parents)


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
