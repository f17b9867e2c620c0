"""How fast values come from long logs, and how much memory that takes.

    python -m benchmarks.estimates [--rows 10000000] [--record]

IPS            `PolicyValue` with its sequence, from rewards and probabilities in blocks of 100,000 rows.
difference     `PolicyDifference` from the policy that logged, the same.
doubly robust  both sums with a model of the rewards of ten labels (`baseline`), its probabilities and
               predictions included.

CPU seconds of one core, and by how much the memory of the process grew after the first tenth of the rows.
Blocks are drawn anew, which is not counted. --record keeps it in docs/results/estimates.jsonl.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from banditboost.evaluation import PolicyDifference, PolicyValue, baseline
from banditboost.types import Array
from benchmarks import machine, records
from benchmarks.tables import number, render

BLOCK, LABELS, NAME = 100_000, 10, "estimates"
_MEBIBYTE = 1 << 20


class Block(NamedTuple):
    """Rows of a log in which labels were shown at random."""

    action: Array
    reward: Array
    probability: Array
    policy: Array  # of all labels
    predicted: Array

    @property
    def chosen(self) -> Array:
        """The policy's probabilities of what was logged."""
        return self.policy[np.arange(len(self.action)), self.action]


def blocks(n_rows: int) -> Iterator[Block]:
    """Rows of a log, block by block: memory holds one."""
    rng = np.random.default_rng(1)
    for start in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - start)
        policy = rng.random((n, LABELS))
        yield Block(
            rng.integers(0, LABELS, n),
            (rng.random(n) < 0.05).astype(float),
            np.full(n, 1.0 / LABELS),
            policy / policy.sum(axis=1, keepdims=True),
            np.full((n, LABELS), 0.05),
        )


def ips() -> Callable[[Block], None]:
    value = PolicyValue()
    return lambda block: value.add_many(block.reward, block.probability, block.chosen)


def difference() -> Callable[[Block], None]:
    ahead = PolicyDifference()
    return lambda block: ahead.add_many(block.reward, block.probability, block.chosen)


def doubly_robust() -> Callable[[Block], None]:
    value, ahead = PolicyValue(), PolicyDifference()

    def add(block: Block) -> None:
        model = baseline(block.action, block.policy, block.predicted, least=1.0 / LABELS)
        value.add_many(block.reward, block.probability, block.chosen, model)
        ahead.add_many(block.reward, block.probability, block.chosen, model=model)

    return add


PARTS: dict[str, Callable[[], Callable[[Block], None]]] = {
    "IPS": ips,
    "difference": difference,
    "doubly robust": doubly_robust,
}


def measure(part: str, n_rows: int) -> dict[str, Any]:
    """Seconds for all rows, and by how much memory grew after the first tenth of them."""
    add, seconds, done, held = PARTS[part](), 0.0, 0, 0
    for block in blocks(n_rows):
        start = time.process_time()
        add(block)
        seconds += time.process_time() - start
        done += len(block.action)
        if not held and 10 * done >= n_rows:
            held = machine.memory()
    grown = max(0, machine.memory() - held)
    return {"part": part, "rows": n_rows, "seconds": round(seconds, 4), "grown": grown}


def report(lines: Sequence[records.Record]) -> str:
    """A table for the page and the terminal."""
    head = ["rows in blocks", "rows", "CPU seconds", "rows per second", "memory grew by, MiB"]
    rows = [
        [
            line["part"],
            f"{line['rows']:,}",
            number(line["seconds"]),
            number(line["rows"] / line["seconds"]),
            number(line["grown"] / _MEBIBYTE),
        ]
        for line in lines
    ]
    return render(head, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.estimates", description="How fast values come from long logs."
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the log (default: %(default)s)")
    records.add_option(parser, NAME)
    options = parser.parse_args(arguments)
    about = records.about(
        machine.describe(machine.pin(), ("numpy",)), records.typed("benchmarks.estimates", arguments)
    )
    lines = [{**measure(part, options.rows), **about} for part in PARTS]
    print(report(lines))
    if options.record is not None:
        records.update(options.record, lines, ["part"])


if __name__ == "__main__":
    main()
