"""Playing a stream whose right labels are known, and hidden from the learner.

Where to look:

    play.py       `play`: rows and right labels in, a result out
    loop.py       the loop over a model's compiled round
    arrivals.py   when verdicts come: at once, some rounds later, or never
    rows.py       the rows of a stream, in blocks
    result.py     what was played
"""
