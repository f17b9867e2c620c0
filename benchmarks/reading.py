"""How fast a big CSV file is read and how much memory that takes: `python -m benchmarks.reading [megabytes]`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = [*(f"x{i}" for i in range(8)), "device", "label"]
BLOCK_ROWS = 100_000


def write_csv(path: Path, megabytes: float) -> None:
    """Eight numbers, a name, a label; one block of random rows again and again."""
    random = np.random.default_rng(4)
    numbers = np.char.mod("%.4f", random.normal(size=(BLOCK_ROWS, 8)))
    names = (
        random.choice(["phone", "desktop", "tv"], (BLOCK_ROWS, 1)),
        random.choice(["a", "b", "c"], (BLOCK_ROWS, 1)),
    )
    block = "".join(",".join(row) + "\n" for row in np.hstack([numbers, *names]).tolist())
    with path.open("w") as file:
        file.write(",".join(COLUMNS) + "\n")
        for _ in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block)


def measure(path: Path, reader: str) -> None:
    """In a process of its own: both passes, and the most memory that was ever taken."""
    from banditboost import datasets
    from banditboost.datasets.tables import paths

    if reader == "python":
        paths._pyarrow = lambda: None
    started = time.process_time(), time.perf_counter()
    opened = datasets.open_file(path, "label")
    found = time.process_time(), time.perf_counter()
    rows = sum(len(y) for _, y in opened.batches())
    done = time.process_time(), time.perf_counter()
    size = path.stat().st_size / 1e6
    cpu, wall = (size / (found[i] - started[i]) for i in (0, 1))
    peak = next(
        int(line.split()[1]) / 1024
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    print(
        f"| {reader} | {size:,.0f} | {rows:,} | {found[1] - started[1]:.1f} | {done[1] - found[1]:.1f} "
        f"| {wall:.0f} | {cpu:.0f} | {peak:,.0f} |",
        flush=True,
    )


def main(megabytes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        write_csv(path, megabytes)
        print(
            "| reader | MB | rows | first pass, s | second pass, s | MB/s | MB per CPU second | peak memory, MiB |"
        )
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for reader in ("pyarrow", "python"):
            subprocess.run([sys.executable, "-m", "benchmarks.reading", str(path), reader], check=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), sys.argv[2])
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 1000)
