"""What the service refuses, and how it says so: the status, the field and the remedy."""

from __future__ import annotations

import re

from banditboost.serve.store.base import StoreError

_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class ServiceError(Exception):
    """A request that is refused; nothing has changed.

    Args:
        status: of HTTP.
        code: a short name that programs can compare, such as "unknown-model".
        detail: what is wrong and what helps, for people.
        field: where in the request, such as "decisions[3].features"; empty if it is none.
        retry_after: seconds after which the same request may be answered; None if it never will.
    """

    def __init__(
        self, status: int, code: str, detail: str, *, field: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.field, self.retry_after = field, retry_after


def unknown_model(name: str) -> ServiceError:
    """There is no model of this name."""
    return ServiceError(
        404,
        "unknown-model",
        f"there is no model {name[:128]!r}; create it, or see the list of models",
        field="name",
    )


def unavailable(error: StoreError) -> ServiceError:
    """The store cannot be read or written now."""
    return ServiceError(503, f"store-{error.why}", error.detail, retry_after=5.0)


def shape_of(message: str) -> tuple[str, str]:
    """What is wrong with the shape of something, and where, from what msgspec says of it."""
    found = _PLACE.search(message)
    return (message[: found.start()], found.group(1)) if found else (message, "")
