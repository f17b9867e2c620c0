"""Models to save, and what has to be true of the one that comes back."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost.io import container
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference
from tests.boosting.streams import make_stream
from tests.boosting.twins import DECIDERS, make_booster

K, N = 3, 4
HALF = 40 if INTERPRETED else 80
STREAM = make_stream("mixed", K, 2 * HALF)


def trained(name: str, rows: list[Any] | None = None, **options: Any) -> Any:
    """A small model after half of the stream."""
    model = make_booster(name, K, N, **options)
    go_on(model, (STREAM.dicts() if rows is None else rows)[:HALF], STREAM.y)
    return model


def go_on(model: Any, rows: list[Any], labels: np.ndarray) -> list[Any]:
    """Round by round; returns what was predicted or shown."""
    shown = []
    for x, y in zip(rows, labels.tolist(), strict=False):
        if type(model).__name__ in DECIDERS:
            decision = model.decide(x)
            model.learn(decision, decision.label == y)
            shown.append((decision.label, decision.greedy, decision.probability))
        else:
            shown.append(model.predict_one(x))
            model.learn_one(x, y)
    return shown


def reloaded(model: Any, path: Path, **options: Any) -> Any:
    model.save(path)
    return banditboost.load(path, **options)


def same(one: Any, other: Any) -> bool:
    """Alike to the last bit, in all that was learned and all that was asked for."""
    assert [part for part in difference(one, other) if part != "learners"] == []
    assert learner_states(one) == learner_states(other)
    assert (one.model_id, one.labels, one.verdicts) == (other.model_id, other.labels, other.verdicts)
    assert list(map(type, one.labels)) == list(map(type, other.labels))
    assert one.memory_usage == other.memory_usage
    assert {**one.parameters, "weak_learner": None} == {**other.parameters, "weak_learner": None}
    return True


def learner_states(model: Any) -> list[str]:
    """What learners written in Python keep. (Their pickles would differ by which objects are shared.)"""
    return [repr(vars(learner)) for learner in getattr(model._committee, "learners", [])]


def forge(path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any]) -> Path:
    """The same file with its header and arrays changed, and a checksum that is right."""
    contents = container.read(path)
    change(contents.header, contents.arrays)
    forged = path.with_suffix(".forged")
    container.write(forged, contents.header, contents.arrays)
    return forged


def raw_file(path: Path, header: bytes, body: bytes = b"", version: int = 1) -> Path:
    """A file with any bytes for a header, and a checksum that is right."""
    size = 24 + len(header) + len(body) + 32
    data = struct.pack("<8sIIQ", container.MAGIC, version, len(header), size) + header + body
    path.write_bytes(data + hashlib.sha256(data).digest())
    return path


def raw_header(path: Path) -> dict[str, Any]:
    """The JSON of a file as another program would read it."""
    data = path.read_bytes()
    header: dict[str, Any] = json.loads(data[24 : 24 + struct.unpack_from("<I", data, 12)[0]])
    return header
