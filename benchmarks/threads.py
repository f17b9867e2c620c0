"""`python -m benchmarks.threads [streams]`: a round of AdaBandit alone, beside a busy thread, and where two threads have a model each.

Microseconds by the clock on the wall, array rows, the first 2,000 rounds; on two cores or more.
"""

import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.cases import Case, cases
from benchmarks.tables import render

ROUNDS = 2_000
_TRIES = 3


def decide_and_learn(case: Case, model: Any, rounds: int) -> None:
    labels = case.stream.labels
    for row, right in zip(case.stream.X[:rounds], case.stream.y[:rounds], strict=True):
        decision = model.decide(row)
        model.learn(decision, decision.label == labels[right])


def microseconds(work: Callable[[], None], rounds: int) -> float:
    """The fastest of a few."""
    spent = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return min(spent) / rounds * 1e6


def alone(case: Case) -> None:
    decide_and_learn(case, case.model("AdaBandit"), ROUNDS)


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
    names = tuple(sys.argv[1:]) or ("balance", "car", "nursery", "movement", "mice", "isolet")
    lines = []
    for whole in cases(names, 4):
        case = whole.cut(ROUNDS)
        decide_and_learn(case, case.model("AdaBandit"), 50)  # compiles
        ways = ((alone, ROUNDS), (beside_a_busy_thread, ROUNDS), (two_models, 2 * ROUNDS))
        lines.append([case.name, *(f"{microseconds(partial(way, case), rounds):.1f}" for way, rounds in ways)])
    print(render(["us a round", "alone", "beside a busy thread", "two threads, a model each"], lines))


if __name__ == "__main__":
    main()
