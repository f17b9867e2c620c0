"""The words that the whole package shares."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
"""An array of NumPy; comments say of what, and of what shape."""
Record = Any
"""One record of NumPy, whose fields are read as attributes (np.record)."""
Label = Hashable
"""What can be shown: any name that can be a key of a dict."""
Row = Mapping[Any, Any] | Array
"""What is known in a round: a dict of features, or an array in the schema's order."""
