"""`python -m benchmarks.threads [streams]`: a round of AdaBandit alone, beside a busy thread, and where two threads have a model each.

Microseconds by the clock on the wall, array rows, the first 2,000 rounds; on two cores or more.
"""

import threading
import time
from collections.abc import Callable
from functools import partial

from benchmarks import ours
from benchmarks.cases import Case, cases, named
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
    ours.decide_and_learn(list(case.stream.X), [case.stream.labels[i] for i in case.stream.y], case.model("AdaBandit"))


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


def main() -> None:
    lines = []
    for whole in cases(named("benchmarks.threads", "A round of AdaBandit alone, and beside other threads."), 4):
        case = whole.cut(ROUNDS)
        alone(case.cut(50))  # compiles
        ways = ((alone, ROUNDS), (beside_a_busy_thread, ROUNDS), (two_models, 2 * ROUNDS))
        lines.append([case.name, *(f"{microseconds(partial(way, case), rounds):.1f}" for way, rounds in ways)])
    print(render(["us a round", "alone", "beside a busy thread", "two threads, a model each"], lines))


if __name__ == "__main__":
    main()
