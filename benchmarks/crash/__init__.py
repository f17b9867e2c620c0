"""A service that is killed under load, again and again, and what it must not lose.

    python -m benchmarks.crash [--kills 300] [--seed 1] [--workers] [--folder PATH] [--record]

A process (worker.py) serves models and asks itself, sixteen requests at a time, with repeated ids, doubled
verdicts, verdicts that never come, deferred decisions and windows that end. Each answer is a line to this
process. After a random time it is killed with SIGKILL; then the log is read (truth.py), by plain calls of
the library: a model that was never killed decides and learns what the log tells. Three things must hold:

    nothing lost    every answer that came is in the log as it was answered
    same model      the model that the next process makes of its log has the same arrays, bit for bit
    learned once    no decision is learned twice

With --workers three such processes share a PostgreSQL, which the test extra brings (workers.py). One of them
is killed, a new one takes its place, and so on; what was published last is held against the log each time.

--folder keeps what was found so far: a run that was stopped goes on. --record keeps the line for
docs/reliability.md, in docs/results/reliability.jsonl.
"""
