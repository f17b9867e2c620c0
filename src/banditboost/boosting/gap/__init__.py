"""GapBoost, ours: for each label a chain of stages that asks "was it right?", shown by inverse gaps.

docs/gapboost.md specifies it.

Where to look:

    booster.py     the class
    chained.py     what it shares with boosters that have one chain for all options
    state.py       what it has learned, its layout, and what is known of the row at hand
    choose.py      lines 5 to 10 of Algorithm 1: scores, and which label is shown
    teach.py       lines 12 to 17: what the shown label's chain learns
    chain.py       the linear stages of a chain
    words.py       what names and words without a place of their own add to the first one
    regression.py  the regressions beside it
    experts.py     prefixes of the chains and regressions, and how much each one counts
    late.py        rows that wide regressions learn together
    layout.py      which slots belong to which columns
    stages.py      room for weights, which grows; files
    places.py      places that names and words share
    room.py        room for regressions
"""
