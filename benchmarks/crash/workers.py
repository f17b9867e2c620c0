"""Several processes on one database; one after the other is killed, and a new one takes its place."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from pathlib import Path

from banditboost.serve.store.postgres import PostgresStore
from benchmarks.crash.found import Found, Kill
from benchmarks.crash.process import ANSWERS, Line, Process
from benchmarks.crash.truth import Truth
from benchmarks.crash.worker import MODELS, digest_of

AT_ONCE = 3
_LEARNED_WITHIN = 60.0  # seconds


class Site:
    """The processes, and what their logs tell.

    Args:
        url: of the database.
        seed: of what is asked, and who is killed.
    """

    def __init__(self, url: str, seed: int) -> None:
        self.store, self._url = PostgresStore(url), url
        self._draw = random.Random(seed)
        self.truths: dict[str, Truth] = {}
        self._running: list[Process] = []
        self._stack = ExitStack()

    def __enter__(self) -> Site:
        for _ in range(AT_ONCE):
            self._begin()
        for name in MODELS:
            stored = self.store.named(name)
            assert stored is not None
            self.truths[name] = Truth(self.store, stored)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self.store.close()

    def _begin(self) -> float:
        process = self._stack.enter_context(Process(self._url, self._draw.getrandbits(40)))
        self._running.append(process)
        return process.wait_until_ready()

    def kill_one(self, most_seconds: float) -> Kill:
        """Whichever the lot finds; then look at models and log, and start another one."""
        time.sleep(self._draw.uniform(0.0, most_seconds))
        lines = self._running.pop(self._draw.randrange(AT_ONCE)).kill()
        wrong = [what for truth in self.truths.values() if (what := self._look(truth))]
        for truth in self.truths.values():
            wrong += truth.wrong
            truth.wrong = []
        return Kill(start=self._begin(), wrong=wrong, **self._told(lines))

    def _told(self, lines: list[Line]) -> dict[str, object]:
        answers = [line for line in lines if line[0] in ANSWERS]
        return {
            "answers": len(answers),
            "refused": sum(line[0] == "refused" for line in lines),
            "lost": [line for line in answers if self.truths[line[1]].lacks(line)],
        }

    def _look(self, truth: Truth) -> str:
        """What is wrong with what was published last; then read all of the log."""
        found = self.store.published(truth.stored.number)
        truth.read_on(self.store)
        if found is None:
            return ""
        n, file, _ = found
        if n < truth.learned_n:
            return f"{truth.stored.name}: event {n} was published after event {truth.learned_n}"
        truth.learn_to(n)
        if digest_of(file) != digest_of(truth.file()):
            return f"{truth.stored.name} differs at event {n}"
        return ""

    def end(self) -> list[list[Line]]:
        """Kill those that are left, and tell what they have told."""
        left, self._running = self._running, []
        return [process.kill() for process in left]

    def learn_all(self) -> list[str]:
        """A last process learns what is left of the logs; what is wrong then."""
        with Process(self._url, 0) as last:
            last.wait_until_ready()
            ends = {name: self.store.head(truth.stored.number)[0] for name, truth in self.truths.items()}
            wrong, until = [], time.monotonic() + _LEARNED_WITHIN
            while any(truth.learned_n < ends[name] for name, truth in self.truths.items()):
                if time.monotonic() > until:
                    return [*wrong, "what was in the logs was not learned within a minute"]
                time.sleep(0.5)
                wrong += [what for truth in self.truths.values() if (what := self._look(truth))]
        return wrong


def kill_workers(url: str, folder: Path, kills: int, seed: int, most_seconds: float = 0.6) -> Found:
    """So many times; those that this folder tells of are done, with other databases."""
    found = Found(folder / "kills-of-workers.jsonl")
    with Site(url, seed * 1_000_003 + len(found.kills)) as site:
        while len(found.kills) < kills:
            found.add(site.kill_one(most_seconds))
        for lines in site.end():
            for truth in site.truths.values():
                truth.read_on(site.store)
            lost = [line for line in lines if line[0] in ANSWERS and site.truths[line[1]].lacks(line)]
            found.wrong_logs += [f"lost: {line}" for line in lost]
        found.wrong_logs += site.learn_all()
        found.wrong_logs += [what for truth in site.truths.values() for what in truth.wrong]
        found.events = sum(truth.n for truth in site.truths.values())
    return found
