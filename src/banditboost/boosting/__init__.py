"""The boosters: the paper's, and GapBoost.

Where to look:

    round.py             Algorithm 1, once for all boosters: `decide` and `learn`, compiled
    booster.py           what all boosters share: N weak learners, and what a lesson for them is written into
    rated.py, rates.py   boosters that explore at a rate, and what the rate is
    adaptive.py          AdaBandit (Algorithm 3), and what AdaFull shares with it
    optimal.py           OptBandit (Algorithm 2), and what OptFull shares with it
    binary.py            BinBandit
    full_information.py  AdaFull and OptFull, which are told the right label
    mixture/             MixFull (Adaboost.OLM++) and MixBandit
    gap/                 GapBoost, ours

    experts.py           lines 6 to 8: votes become labels
    exploration.py       lines 9 and 10: which label is shown; by the learners' votes: divided.py
    estimate.py          line 12: what a verdict says about every label
    costs.py             lines 14 and 15: cost vectors, and what a learner is taught
    potential.py         the potentials of OptBandit, counted by vote_states.py
    edges.py             empirical edges, for simulations
    change.py            has the world changed? What GapBoost does about it is in gap/teach.py
    python_round.py      a round with weak learners that are Python objects
"""
