"""What the page shows of a served model: fed with each event of its log, in a memory that does not grow.

watching.py   ModelStatistics: takes the events, in blocks
comparing.py  the model against chance, the best constant label and the control group
points.py     the course of time, in points that thin out
labels.py     a line for each label
latest.py     the last decisions with what the model thought
showing.py    the same in words of the page: estimates with bounds that hold at any time
"""

from banditboost.serve.statistics.showing import show
from banditboost.serve.statistics.watching import ModelStatistics, WatchedDecision

__all__ = ["ModelStatistics", "WatchedDecision", "show"]
