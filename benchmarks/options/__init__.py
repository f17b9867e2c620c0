"""Options with features of their own: OptionBoost with its defaults beside Vowpal Wabbit (tuned) and LinUCB.

    python -m benchmarks.options

Where to look:

    stream.py    contexts, items, who is offered when, what each would earn
    shops.py     simulated shops whose best option is known: many items, half of them replaced on the way
    given.py     labelled sets whose labels are given as options: by name alone, or described by numbers
    streams.py   all of them, and which are for choosing and which for reporting
    players.py   OptionBoost, guessing, LinUCB on joint features, and the peers' settings
    wabbit.py    Vowpal Wabbit's `--cb_explore_adf`, a text for each option
    plan.py      every setting once for tuning, the best one on all seeds; what is recorded is not played again
    logs.py      the Open Bandit logs, by importance weights
    speed.py     the time of a decision among 100 and 1,000 options, in turns
    page.py      docs/results/options.md, from the records alone
"""
