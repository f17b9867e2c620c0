"""The protocol of *A Contextual Bandit Bake-off* (Bietti, Agarwal, Langford, JMLR 2021) on 79 of its sets.

    python -m benchmarks.bakeoff [--only gapboost|pairs|wabbit] [--again] [--sets 28,54]

Where to look:

- `sets.py`: the tables, and which of them are nearly the same;
- `players.py`: Vowpal Wabbit's algorithms over nine learning rates, and GapBoost with its defaults;
- `score.py`: who wins by their rule, and by the 5 % rule; losses relative to a learner that is told every label;
- `page.py`: page and chart, made from the record alone.
"""
