"""npm's clients of Personalizer, which speak v1.0 and v1.1-preview.3, against a service on a socket."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.serve.personalizer.conftest import Start

PACKAGES = ["@azure-rest/ai-personalizer@1.0.0-beta.1", "@azure/cognitiveservices-personalizer@2.0.1"]
INSTALL = [
    "npm",
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--fetch-retries=0",
    "--fetch-timeout=15000",
]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program that calls, beside the packages that it needs."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    try:
        subprocess.run(
            [*INSTALL, *PACKAGES], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm cannot install the clients: {error}")
    return Path(shutil.copy(Path(__file__).with_name("clients.cjs"), tmp_path))


def test_both_clients(start: Start, program: Path) -> None:
    called = subprocess.run(
        ["node", program, start(), "any key"], check=True, capture_output=True, text=True, timeout=60
    )
    first, second = json.loads(called.stdout)
    told: dict[str, Any] = {
        "ranking": [{"id": "tea", "probability": 0}, {"id": "juice", "probability": 1}],
        "rewardActionId": "juice",
    }
    assert first == told | {"eventId": "first/1", "refused": "BadRequest"}
    assert second == told | {
        "eventId": "second/1",
        "statuses": ["201", "204", "204", "200", "400"],
        "mode": "Online",
        "refused": "InvalidRankRequest",
    }
