"""Another process that holds a model: `Worker` gives it orders, a line of JSON each, and reads answers."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]


class Worker:
    """A process that has loaded a model from a file, or unpickled it."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "tests.models.worker", str(path)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it as a crash would: nothing more is saved."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, **order: Any) -> Any:
        assert self._process.stdin and self._process.stdout  # noqa: PT018 (for mypy)
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def decide(self, rows: list[Any]) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self._ask(do="decide", rows=rows)
        return answer

    def learn(self, decision: dict[str, Any], correct: bool) -> str:
        """The reason why it was refused, or an empty string."""
        answer: str = self._ask(do="learn", decision=decision, correct=correct)
        return answer

    def counts(self) -> dict[str, int]:
        answer: dict[str, int] = self._ask(do="count")
        return answer

    def save(self, path: Path) -> None:
        self._ask(do="save", path=str(path))


def _serve(model: Any) -> None:
    from banditboost import Decision
    from banditboost.errors import DecisionError
    from tests.boosting.states import state_of

    for line in sys.stdin:
        order = json.loads(line)
        answer: Any = None
        if order["do"] == "decide":
            answer = [model.decide(row).to_dict() for row in order["rows"]]
        elif order["do"] == "learn":
            before = state_of(model)
            try:
                model.learn(Decision.from_dict(order["decision"]), order["correct"])
                answer = ""
            except DecisionError as error:
                assert state_of(model) == before
                answer = str(error)
        elif order["do"] == "save":
            model.save(order["path"])
        else:
            answer = {
                "rounds": model.rounds,
                "verdicts": model.verdicts,
                "open": model.summary().open_decisions,
            }
        print(json.dumps(answer), flush=True)


def _taken_from(path: Path) -> Any:
    import banditboost

    return pickle.loads(path.read_bytes()) if path.suffix == ".pickle" else banditboost.load(path)


if __name__ == "__main__":
    _serve(_taken_from(Path(sys.argv[1])))
