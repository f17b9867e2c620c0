"""What every model is, whatever it learns with.

Where to look:

    model.py      labels, schema, seed, files, what can be seen
    deciding.py   `decide`
    bandit.py     `learn`: verdicts, each learned once
    noticing.py   changes of the world: how a model tells of them
    calls.py      the compiled round of a model, bound to its arrays
    identity.py   which decision is whose: model, branch, run, round
    ledger.py     which rounds have been learned
    settings.py   numbers that compiled code reads
    changing.py   how a model changes, so that no interruption finds it half changed
    locking.py    one lock for each model
    saving.py     a model as the contents of a file
"""
