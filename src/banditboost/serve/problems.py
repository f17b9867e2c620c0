"""What the service refuses, and how it says so: the status, the field and the remedy."""

from __future__ import annotations


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
