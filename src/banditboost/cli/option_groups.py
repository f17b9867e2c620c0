"""Options that belong together, as one argument of a command.

A group is a dataclass whose fields are annotated like the parameters of a command. A command that takes one

    @takes_groups
    def run(choice: DataChoice, seed: options.Seed = 4) -> None: ...

has an option for each field, and is handed the group as one object.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any


def takes_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of the dataclasses that it takes."""
    hints = typing.get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}

    @functools.wraps(command)
    def with_groups(**given: Any) -> None:
        made = {name: _made(group, given) for name, group in groups.items()}
        command(**made, **given)

    parameters = list(_parameters(command, hints))
    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_groups


def _made(group: Any, given: dict[str, Any]) -> Any:
    """The group, of the options that belong to it; these are taken out of what was given."""
    return group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})


def _parameters(command: Callable[..., None], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        if not dataclasses.is_dataclass(hints[name]):
            yield _by_name(name, parameter.default, hints[name])
            continue
        fields = typing.get_type_hints(hints[name], include_extras=True)
        for field in dataclasses.fields(hints[name]):
            default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
            yield _by_name(field.name, default, fields[field.name])


def _by_name(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
