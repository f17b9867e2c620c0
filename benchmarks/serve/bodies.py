"""What is sent: 20 features, of which five are names, and the label that would be right."""

from __future__ import annotations

import json
import random
from typing import NamedTuple

LABELS = ["sports", "politics", "science", "arts", "travel"]
ROWS = 2_000
_NAMES = ["red", "green", "blue", "white"]


class Body(NamedTuple):
    """Features in JSON, and what the answer holds if it is right."""

    features: bytes
    right: bytes

    @property
    def right_label(self) -> str:
        """The label itself."""
        return self.right.split(b'"')[3].decode()


def bodies(seed: int = 7) -> list[Body]:
    """Rows to be sent in turn; the right label depends on three features."""
    draw = random.Random(seed)
    return [_body(draw) for _ in range(ROWS)]


def _body(draw: random.Random) -> Body:
    row: dict[str, float | str] = {f"number_{i}": round(draw.uniform(0, 100), 2) for i in range(15)}
    row |= {f"name_{i}": draw.choice(_NAMES) for i in range(5)}
    place = _NAMES.index(str(row["name_0"])) + (float(row["number_0"]) > 50) * (float(row["number_1"]) > 50)
    return Body(json.dumps(row).encode(), b'"label":"%b"' % LABELS[place % 5].encode())


def request(path: str, body: bytes) -> bytes:
    """A POST as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
