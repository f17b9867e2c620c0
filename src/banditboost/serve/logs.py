"""Logs as JSON lines, in ASCII: whatever a name or an id holds, a line stays a line and moves no terminal."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from banditboost.log import LOGGER
from banditboost.serve.store.base import StoreError
from banditboost.text import counted, quoted


class JsonLines(logging.Formatter):
    """A record as an object: time, level, logger, message, and what was told beside it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "told", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=quoted)


def log_as_json(level: str, stream: TextIO | None = None) -> None:
    """Have the service and its server log in JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("banditboost", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())


def log_trouble(trouble: StoreError | None) -> None:
    """Tell that the store fails, or that it answers again."""
    if trouble is None:
        LOGGER.warning("the store answers again")
    else:
        LOGGER.error(
            "the store fails, and requests are refused until it answers again",
            extra={"told": {"why": trouble.why, "detail": trouble.detail}},
        )


def log_following(model: str, n: int) -> None:
    """Tell that a log was written elsewhere, and goes on here."""
    LOGGER.warning(
        "%s of the log come out otherwise here, by another version or on another processor; the model has "
        "learned them as they were answered",
        counted(n, "decision"),
        extra={"told": {"model": model}},
    )
