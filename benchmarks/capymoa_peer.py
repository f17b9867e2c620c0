"""CapyMOA's OzaBoost over MOA's Hoeffding trees, in full information: a row at a time, or all of the loop in
Java.
"""

import multiprocessing
import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.rate import Rate, timed


def unavailable() -> str | None:
    """Why CapyMOA cannot be used here, or None."""
    os.environ.setdefault("CAPYMOA_DATASETS_DIR", tempfile.gettempdir())
    try:
        import capymoa.classifier  # noqa: F401
    except Exception as error:  # no package, no Java, no JVM: each raises its own
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return None


def in_java(case: Case, seconds: float) -> Rate:
    """The whole loop in Java, rows in memory, on a warm JVM: the fastest of the plays that fill `seconds`."""
    stream = _in_memory(case)
    runs: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(runs) < 3 or time.perf_counter() - start < seconds:
        stream.restart()
        runs.append(timed(partial(_java_loop, stream, _learner(case, stream))))
    return Rate(case.rounds, *min(runs), note=f"fastest of {len(runs)}")


def row_by_row(case: Case) -> Rate:
    """`predict` and `train` called from Python for each row, as CapyMOA's guides do."""
    stream = _in_memory(case)
    instances = [stream.next_instance() for _ in range(case.rounds)]
    return Rate(case.rounds, *timed(partial(_python_loop, instances, _learner(case, stream))))


def in_a_fresh_jvm(case: Case) -> Rate:
    """The same, once, in a process of its own: what somebody meets who plays one stream.

    Getting ready is not timed, warming up is.
    """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(row_by_row, (case,))


def _learner(case: Case, stream: Any) -> Any:
    from capymoa.classifier import OzaBoost

    return OzaBoost(stream.get_schema(), boosting_iterations=case.setting("AdaBandit").n_learners)


def _python_loop(instances: list[Any], learner: Any) -> float:
    right = 0
    for instance in instances:
        right += learner.predict(instance) == instance.y_index
        learner.train(instance)
    return right / len(instances)


def _java_loop(stream: Any, learner: Any) -> float:
    from capymoa.evaluation import prequential_evaluation

    return float(prequential_evaluation(stream, learner, optimise=True).cumulative.accuracy()) / 100


def _in_memory(case: Case) -> Any:
    """The rows in a MOA stream that parses nothing while it is played."""
    from capymoa.stream import ARFFStream, MOAStream
    from com.yahoo.labs.samoa.instances import Instances
    from moa.streams import CachedInstancesStream

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{case.name}.arff"
        path.write_text(_arff(case))
        source = ARFFStream(str(path))
        rows = Instances(source.moa_stream.getHeader(), 0)
        while source.moa_stream.hasMoreInstances():
            rows.add(source.moa_stream.nextInstance().getData())
    stream = MOAStream(schema=source.get_schema())
    stream.moa_stream = CachedInstancesStream(rows)
    return stream


def _arff(case: Case) -> str:
    stream = case.stream
    attributes = [f"@attribute a{i} {_arff_type(values)}" for i, values in enumerate(stream.values)]
    rows = [",".join([*(str(cell) for cell in row.values()), label]) for row, label in case.records]
    return "\n".join(
        ["@relation r", *attributes, f"@attribute class {_arff_type(stream.labels)}", "@data", *rows, ""]
    )


def _arff_type(values: tuple[str, ...] | None) -> str:
    return "numeric" if values is None else "{" + ",".join(values) + "}"
