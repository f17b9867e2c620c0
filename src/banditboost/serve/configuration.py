"""The settings of a service: from a TOML file, the environment and flags; the later wins.

Each of the three is checked by itself, so that a refusal names the line, the variable or the flag.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from banditboost.errors import ConfigurationError
from banditboost.serve.http.auth import LOOPBACK
from banditboost.serve.problems import shape_of
from banditboost.serve.settings import Key, Limits, ModelSettings, ServiceSettings

PREFIX = "BANDITBOOST_SERVE_"
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_PAIR = re.compile(r"\s*([^=#\[\]{}]+?)\s*=")
Path_ = tuple[str | int, ...]
Layer = dict[str, Any]


def configured(file: Path | None, environment: Mapping[str, str], flags: Layer) -> ServiceSettings:
    """The settings of a service; a ConfigurationError that names the place and the remedy."""
    layers = [_environment(environment), _checked(flags, _in_flags)]
    if file is not None:
        layers.insert(0, _file(file))
    merged: Layer = {}
    for layer in layers:
        merged = _merged(merged, layer)
    settings = msgspec.convert(merged, ServiceSettings)
    _check_closed(settings)
    return settings


def _check_closed(settings: ServiceSettings) -> None:
    if settings.host not in LOOPBACK and not settings.keys:
        raise ConfigurationError(
            f"host is {settings.host!r}, which others can reach, and there is no key; make one with "
            "`banditboost serve key` and configure its hash, or leave host out"
        )


def _merged(below: Layer, above: Layer) -> Layer:
    return below | {
        name: _merged(below[name], value)
        if isinstance(value, dict) and isinstance(below.get(name), dict)
        else value
        for name, value in above.items()
    }


def _file(path: Path) -> Layer:
    try:
        text = path.read_text(encoding="utf-8")
        told = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 ({error.reason}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: {error}; mend the TOML there") from None
    lines = _lines(text)

    def place(at: Path_) -> str:
        known = [at[:n] for n in range(len(at), 0, -1) if at[:n] in lines]
        return f"{path}, line {lines[known[0]]}" if known else str(path)

    return _checked(told, place)


def _lines(text: str) -> dict[Path_, int]:
    """The line of each table and key of a TOML file; of a value in several lines the first."""
    found: dict[Path_, int] = {}
    table: Path_ = ()
    counted: Counter[Path_] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if (header := _HEADER.match(line)) is not None:
            table = _names(header.group(2))
            if header.group(1) == "[[":
                counted[table] += 1
                table = (*table, counted[table] - 1)
            found.setdefault(table, number)
        elif (pair := _PAIR.match(line)) is not None:
            found.setdefault((*table, *_names(pair.group(1))), number)
    return found


def _names(dotted: str) -> Path_:
    """The names of a key such as models."a b".window; none if it is no key."""
    try:
        told: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    names: list[str | int] = []
    while isinstance(told, dict):
        name, told = next(iter(told.items()))
        names.append(name)
    return tuple(names)


def _environment(environment: Mapping[str, str]) -> Layer:
    layer: Layer = {}
    for name, text in environment.items():
        if name.startswith(PREFIX):
            below, _, key = name.removeprefix(PREFIX).lower().rpartition("limits_")
            place = layer.setdefault("limits", {}) if below == "" and "limits_" in name.lower() else layer
            place[key] = _value(name, text)
    return _checked(layer, lambda at: PREFIX + "_".join(map(str, at)).upper())


def _value(name: str, text: str) -> Any:
    if text[:1] not in ("[", "{"):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"{name} is no JSON ({error}); write JSON, or one plain value") from None


def _in_flags(at: Path_) -> str:
    return f"--{at[-1]}".replace("_", "-")


def _checked(layer: Layer, place: Callable[[Path_], str]) -> Layer:
    """The layer in the types of the settings."""
    parts: list[tuple[Path_, Any, Any]] = [(("limits",), layer.get("limits", {}), Limits)]
    if isinstance(models := layer.get("models"), dict):
        parts += [(("models", name), model, ModelSettings) for name, model in models.items()]
    if isinstance(keys := layer.get("keys"), list):
        parts += [(("keys", i), key, Key) for i, key in enumerate(keys)]
    for at, value, kind in (*parts, ((), layer, ServiceSettings)):
        try:
            msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError as error:
            raise _refusal(str(error), at, kind, place) from None
    told = msgspec.to_builtins(msgspec.convert(layer, ServiceSettings, strict=False))
    return _given(told, layer)


def _given(told: Layer, layer: Layer) -> Layer:
    """What was given, without defaults; models and keys as they are."""
    kept = {name: told[name] for name in layer if name not in ("limits", "models", "keys")}
    limits = {name: told["limits"][name] for name in layer.get("limits", {})}
    as_given = {name: layer[name] for name in ("models", "keys") if name in layer}
    return kept | as_given | ({"limits": limits} if limits else {})


def _refusal(message: str, at: Path_, kind: Any, place: Callable[[Path_], str]) -> ConfigurationError:
    wrong, inner = shape_of(message)
    at = (*at, *re.findall(r"[^.\[\]]+", inner.replace("[...]", "")))
    if (unknown := _UNKNOWN.search(wrong)) is not None:
        at = (*at, unknown.group(1))
        near = difflib.get_close_matches(unknown.group(1), _fields(kind, inner != ""))
        remedy = f"did you mean {near[0]!r}?" if near else "leave it out"
        return ConfigurationError(f"{place(at)}: {_dotted(at)} is unknown; {remedy}")
    return ConfigurationError(f"{place(at)}: {_dotted(at)}: {wrong}; give such a value")


def _fields(kind: Any, is_inner: bool) -> list[str]:
    return [] if is_inner else list(kind.__struct_fields__)


def _dotted(at: Path_) -> str:
    return ".".join(map(str, at)) or "the file"
