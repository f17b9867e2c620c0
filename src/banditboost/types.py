"""Types that the whole package shares. Nothing here loads Numba."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
"""An array of any shape and dtype; docstrings say which where it matters."""
