"""Streams that change: GapBoost with its defaults beside peers, over whole streams and in time to recover.

    python -m benchmarks.change

Where to look:

    streams.py   simulated clicks whose rates change; generators of River; real streams in the order of time
    tables.py    real streams, from packages on PyPI
    players.py   GapBoost, Vowpal Wabbit's explorers, ADWIN's trees, LinUCB
    plan.py      what is measured of a run; what is recorded is not played again
    page.py      docs/results/change.md, from the records alone
"""
