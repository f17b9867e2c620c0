"""What is told at INFO: the memory ceiling is met, leaves fall asleep, decisions expire.

Who wants to read it adds a handler.
"""

from __future__ import annotations

import logging

LOGGER = logging.getLogger("banditboost")
LOGGER.addHandler(logging.NullHandler())
