"""Who may do what: keys with roles; and without keys only callers on this machine."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from banditboost.serve.http.operations import Role
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Key

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERYTHING: frozenset[Role] = frozenset({"decide", "learn", "read", "admin"})


class Caller(NamedTuple):
    """Who calls: with which roles, for which models."""

    roles: frozenset[str] = _EVERYTHING
    models: frozenset[str] | None = None  # None: all
    name: str = ""

    def check(self, role: Role, model: str | None) -> None:
        """Refuse what the key was not made for."""
        if role not in self.roles and "admin" not in self.roles:
            raise ServiceError(
                403, "role", f"the key has not the role {role!r}; use one that has it, or add it to the key"
            )
        if model is not None and not self.may_see(model):
            raise ServiceError(
                403, "model", "the key is not for this model; use one for it, or add the model to the key"
            )

    def check_for_all(self) -> None:
        """Refuse a key that is for some models, where all are told of."""
        if self.models is not None:
            raise ServiceError(
                403, "model", "the key is for some models, and this tells of all; use one for all of them"
            )

    def may_see(self, model: str) -> bool:
        """Whether the key is for this model."""
        return self.models is None or model in self.models


_ANYBODY = Caller()


def hash_of(key: str) -> str:
    """What the settings keep of a key: it cannot be found from it."""
    return hashlib.sha256(key.encode("latin-1")).hexdigest()


class Keys:
    """The keys of the settings. Without any, only pages and programs of this machine may call."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._callers = [
            (
                bytes.fromhex(key.hash),
                Caller(frozenset(key.roles), None if key.models is None else frozenset(key.models), key.name),
            )
            for key in keys
        ]

    def caller(self, headers: Headers) -> Caller:
        """Who calls; a ServiceError if nobody may who calls like this."""
        return self.caller_of(dict(headers.raw))

    def caller_of(self, headers: Mapping[bytes, bytes]) -> Caller:
        """The same, of headers by their names in small letters."""
        if not self._callers:
            _check_from_here(headers.get(b"host", b""), headers.get(b"origin"))
            return _ANYBODY
        key = _key_in(headers)
        if not key:
            raise ServiceError(
                401, "no-key", "there is no key; send it in the header Authorization: Bearer KEY"
            )
        given = hashlib.sha256(key).digest()
        found = [caller for kept, caller in self._callers if hmac.compare_digest(kept, given)]
        if not found:
            raise ServiceError(
                401, "unknown-key", "the key is not known; make one with: banditboost serve key"
            )
        return found[0]


def _key_in(headers: Mapping[bytes, bytes]) -> bytes:
    kind, _, key = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"bearer":
        return key.strip()
    return headers.get(b"ocp-apim-subscription-key", b"")


@lru_cache(maxsize=64)
def _check_from_here(host: bytes, origin: bytes | None) -> None:
    """A page of another site could call a service on this machine: by a name that it lets point to it, or
    straight; a browser tells of both.
    """
    if _name_of(f"//{host.decode('latin-1')}") not in LOOPBACK:
        raise ServiceError(
            403,
            "host",
            "without keys the service answers to localhost only; call it by this name, or configure a key",
        )
    if origin is not None and origin.partition(b"://")[2] != host:
        raise ServiceError(
            403, "origin", "a page of another site calls; open the service's own page, or configure a key"
        )


def _name_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
