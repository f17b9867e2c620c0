"""Graded rewards: GapBoost with its defaults beside Vowpal Wabbit, tuned.

    python -m benchmarks.rewards

Where to look:

    streams.py   regression tables as "which bin, how near" and as prices; clicks with interactions
    players.py   GapBoost, and Vowpal Wabbit's explorers with their grids
    plan.py      every setting once for tuning, the best one on all seeds; what is recorded is not played again
    page.py      docs/results/rewards.md, from the records alone
"""
