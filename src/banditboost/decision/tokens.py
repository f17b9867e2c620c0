"""Text that is signed, so that it can pass through hands that are not to be trusted.

A token is, in base64 for URLs and without padding,

    1 byte     the version, 1
    5 bytes    when it was signed: whole seconds since 1970, big-endian
    n bytes    the text, compressed (raw deflate; what all decisions tell alike is known beforehand)
    32 bytes   HMAC-SHA256, by the key, of what a token is for and of all bytes before

The signature is looked at before anything else is read but the version, in constant time. Signed is not
secret: anybody can read the text.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import math
import time
import zlib
from collections.abc import Iterable
from typing import Any

from banditboost.errors import DecisionError, ParameterError
from banditboost.validation import check_number

_VERSION = 1
_TIME = 5  # bytes
_SIGNATURE = 32
_LEAST_KEY = 16
# A key may serve other purposes, too: nothing that was signed for those is a token.
_PURPOSE = b"banditboost decision\0"
# What compression finds already there, the most usual last; it belongs to the version, and never changes.
_KNOWN = (
    b'"$tuple""$numpy""$repr"nullfalsetrue,"row":{"allowed":"1","branch":"0-,"labels_digest":"'
    b"0.010.020.050.10.150.20.90.95,0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1"
    b'{"format":4,"model":"","run":"","labels":2,"label":"","greedy":"","memo":['
)
_REMEDY = "give the string that to_token returned, whole"


def sign(text: str, key: bytes) -> str:
    """A token of this text."""
    compressor = zlib.compressobj(9, wbits=-zlib.MAX_WBITS, zdict=_KNOWN)
    body = compressor.compress(text.encode()) + compressor.flush()
    signed = bytes([_VERSION]) + max(int(time.time()), 0).to_bytes(_TIME, "big") + body
    return _written(signed + _signature(signed, _checked_key(key)))


def verified(token: Any, key: Any, max_age: float | None) -> str:
    """The text of a token that was signed with this key, or one of these; a DecisionError if it was not."""
    keys = _checked_keys(key)
    limit = math.inf if max_age is None else _checked_age(max_age)
    data = _read(token)
    if data[:1] != bytes([_VERSION]):
        raise DecisionError(
            f"the token is of version {data[0]}, and this version of banditboost reads version {_VERSION}; "
            f"{_REMEDY}"
        )
    signed, signature = data[:-_SIGNATURE], data[-_SIGNATURE:]
    if not any(hmac.compare_digest(signature, _signature(signed, one)) for one in keys):
        raise DecisionError(
            f"the token of {len(token)} characters was not signed with this key, or was changed since: "
            f"learn nothing from it, or {_REMEDY}, with the key that it was given"
        )
    age = time.time() - int.from_bytes(signed[1 : 1 + _TIME], "big")
    if age > limit:
        raise DecisionError(
            f"the token is {age:.0f} seconds old, and max_age is {limit:g}; drop it, or allow more"
        )
    return zlib.decompressobj(-zlib.MAX_WBITS, _KNOWN).decompress(signed[1 + _TIME :]).decode()


def _checked_age(max_age: Any) -> float:
    return check_number(
        "max_age", max_age, 0.0, math.inf, open_low=True, hint="seconds, or None for no limit"
    )


def _signature(signed: bytes, key: bytes) -> bytes:
    return hmac.digest(key, _PURPOSE + signed, "sha256")


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _read(token: Any) -> bytes:
    """The bytes of a token, if these are written as they are always written."""
    if not isinstance(token, str):
        raise DecisionError(f"the token is a {type(token).__name__}; {_REMEDY}")
    try:
        data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (ValueError, binascii.Error):
        data = b""
    if len(data) <= 1 + _TIME + _SIGNATURE or _written(data) != token:
        raise DecisionError(f"the token of {len(token)} characters is cut short or is none at all; {_REMEDY}")
    return data


# Keys: no error ever shows one.


def _checked_key(key: Any) -> bytes:
    remedy = "give secret bytes, such as secrets.token_bytes(32), and keep them where passwords are kept"
    if not isinstance(key, bytes):
        raise ParameterError(f"key is a {type(key).__name__}; {remedy}")
    if len(key) < _LEAST_KEY:
        raise ParameterError(f"key has {len(key)} bytes, and {_LEAST_KEY} are the least; {remedy}")
    return key


def _checked_keys(key: Any) -> list[bytes]:
    """One key or several."""
    several = isinstance(key, Iterable) and not isinstance(key, (bytes, bytearray, str, memoryview))
    try:
        given = list(key) if several else [key]
    except Exception:  # an array without dimensions, or whatever a generator raises
        given = [key]
    keys = [_checked_key(one) for one in given]
    if not keys:
        raise ParameterError("key is an empty list; give the key that to_token was given, or several")
    return keys
