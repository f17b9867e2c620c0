"""The values of a nominal column that has too many for a place each."""


class Frequent(tuple[str, ...]):
    """Values that have a place of their own, of a column where others share places."""

    __slots__ = ()
