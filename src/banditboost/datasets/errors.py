"""What can go wrong between a name and its rows."""

from banditboost.errors import BanditBoostError


class DatasetError(BanditBoostError):
    """A data set that is unknown, not there, or not what it should be. The message names the remedy."""
