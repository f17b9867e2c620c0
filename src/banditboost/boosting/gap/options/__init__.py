"""OptionBoost: one chain for all options, over contexts and the features of options.

docs/optionboost.md specifies it.

Where to look:

    booster.py   the class; models/offering.py is what it is to people who call it
    state.py     what it has beside what GapBoost has
    choose.py    lines 5 to 10 of Algorithm 1: every option that is offered gets a score, and one is shown
    teach.py     lines 12 to 17: the chain learns the reward of the shown option
    own.py       what is special to an id: what its scores have missed in the mean,
    lines.py     and a regression of that on the context, of ids that have a room for it
    rooms.py     how many rooms there are, how lines move when columns join, and what files keep
"""
