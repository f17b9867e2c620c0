"""Experiments: tasks that are played in parallel, and a file of results from which everything else is made.

Where to look:

- `task.py`: a `Task` is a `Source` of rounds, a learner, its parameters and a seed, with an id that never
  changes;
- `learners.py`: from a learner's name and plain parameters to a model;
- `references.py`: classes of the user's, as "package.module:Class";
- `run.py`: plays one task and returns its record;
- `results.py`: the file of records, which survives being killed at any moment;
- `records.py`: whether records hold what is asked of them;
- `reuse.py`: what is known of records that are used again;
- `runner.py`: plays the tasks that are not in the file yet, longest first (`cost.py`);
- `engine.py`: worker processes here, or a Dask or Ray cluster, all through joblib;
- `protocol.py`: the paper's streams, parameters and printed results, as data;
- `paper.py`: the tasks behind the paper's tables and figures;
- `tune.py`: a grid, or successive halving, over a learner's parameters;
- `statistics.py`: means with intervals, and differences between learners on the same seeds;
- `grouping.py`, `tables.py`, `comparison.py`, `figures.py`, `curves.py`, `report.py`: what records show;
  these never train (`sheets.py`, `wording.py`, `writing.py`: how tables are written).

Only `learners`, `run` and what imports them load Numba; joblib is loaded when tasks are run.
"""
