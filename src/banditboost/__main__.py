"""`python -m banditboost`: play the built-in Car stream with the paper's settings and say what was learned."""

from __future__ import annotations

import time

from banditboost import AdaBandit, Result, datasets, play

_SEED = 4


def run() -> Result:
    """AdaBandit on Car, six times over, as in the paper's Table 1 (its seeds begin with 4)."""
    stream = datasets.load("car").stream(repeat=6, seed=_SEED)
    model = AdaBandit(stream.labels, n_learners=15, exploration=0.001, schema=stream.schema(), seed=_SEED)
    print(f"Car: {stream.rounds:,} rounds, {len(stream.labels)} labels; AdaBandit with {model.n_learners} trees hears only right or wrong.")
    start = time.perf_counter()
    result = play(model, *stream)
    print(f"Played in {time.perf_counter() - start:.1f} s (the first time kernels are compiled).")
    return result


def tell(result: Result) -> None:
    """Accuracy in tenths of the stream, and what the paper prints."""
    size = len(result.y) // 10
    for tenth in range(10):
        share = float(result.correct[tenth * size : (tenth + 1) * size].mean())
        print(f"rounds {tenth * size + 1:>6,} to {(tenth + 1) * size:>6,}: {share:.3f} {'#' * round(40 * share)}")
    print(f"last fifth {result.last_accuracy:.3f} (the paper: 0.98), whole stream {result.accuracy:.3f} (the paper: 0.93)")


if __name__ == "__main__":
    tell(run())
