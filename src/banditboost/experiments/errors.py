"""What can go wrong in an experiment. The message names the remedy."""

from __future__ import annotations

from banditboost.errors import BanditBoostError


class ExperimentError(BanditBoostError):
    """A task that cannot be played, a results file that cannot be used, an engine that cannot be reached."""
