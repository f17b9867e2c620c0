"""Plays cells with whatever package is on the path: tasks come as JSON lines, and so do accuracies go.

It is started by its path in a process of its own, so that it sees the patched package.
"""

from __future__ import annotations

import json
import sys

from banditboost.experiments.paper import paper_tasks
from banditboost.experiments.run import run_task


def main() -> None:
    for line in sys.stdin:
        data, algorithm, mode, seed = json.loads(line)
        (task,) = paper_tasks([data], [algorithm], [seed], mode=mode)
        record = run_task(task)
        print(json.dumps([record["last_accuracy"], record["accuracy"]]), flush=True)


if __name__ == "__main__":
    main()
