"""`python -m benchmarks.threads [streams] [--record]`: what a round costs when other threads are busy.

AdaBandit plays alone, beside a busy thread, and in two threads with a model each.

Microseconds by the clock on the wall, array rows, the first 2,000 rounds; on two cores or more.
"""

import threading
import time
from collections.abc import Callable
from functools import partial

from benchmarks import machine, ours, records
from benchmarks.cases import Case, asked, cases
from benchmarks.tables import render

ROUNDS = 2_000
_TRIES = 3


def microseconds(work: Callable[[], None], rounds: int) -> float:
    """The fastest of a few."""
    spent = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent) / rounds * 1e6


def alone(case: Case) -> None:
    ours.decide_and_learn(
        list(case.stream.X), [case.stream.labels[i] for i in case.stream.y], case.model("AdaBandit")
    )


def beside_a_busy_thread(case: Case) -> None:
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            pass

    other = threading.Thread(target=count)
    other.start()
    try:
        alone(case)
    finally:
        done.set()
        other.join()


def two_models(case: Case) -> None:
    threads = [threading.Thread(target=alone, args=(case,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


WAYS = {
    "alone": (alone, 1),
    "beside a busy thread": (beside_a_busy_thread, 1),
    "two threads, a model each": (two_models, 2),
}
"""What is measured, and by how many rounds of the stream it is divided."""


def measure(case: Case) -> dict[str, float]:
    alone(case.cut(50))  # compiles
    return {
        name: round(microseconds(partial(way, case), share * case.rounds), 1)
        for name, (way, share) in WAYS.items()
    }


def main() -> None:
    options = asked("threads", "A round of AdaBandit alone, and beside other threads.")
    found = {case.name: measure(case.cut(ROUNDS)) for case in cases(options.streams, 4)}
    print(
        render(
            ["us a round", *WAYS],
            [[name, *(f"{value:.1f}" for value in ways.values())] for name, ways in found.items()],
        )
    )
    if options.record:
        told = records.about(machine.describe(None), records.typed("benchmarks.threads", None))
        records.update(
            options.record,
            [{"stream": name, "microseconds": ways, **told} for name, ways in found.items()],
            ["stream"],
        )


if __name__ == "__main__":
    main()
