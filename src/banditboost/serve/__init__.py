"""Decisions and verdicts over HTTP: durable before the answer, learned exactly once, rebuilt from the log.

The log is the truth. A served model is a function of its events, and whatever is in memory can be thrown
away and made again from the latest snapshot and the events after it.
"""
