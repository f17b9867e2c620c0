"""`python docs/look.py` (`make docs`, if there is Chromium): the picture of the service's page.

The page is that of a service with half an hour of traffic, in which people change their minds once, shown by a
real browser. Times in it are those of the run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the tests' browser, and their people

from banditboost.client import Client
from banditboost.serve.settings import ServiceSettings
from tests.browser import BROWSER
from tests.chromium import browsing
from tests.serve.page.playing import NEWS, site

PICTURE = Path(__file__).parent / "figures/service-page.png"
WIDTH, HEIGHT = 1200, 1235
DECISIONS, CHANGE = 1_200, 800


def main() -> None:
    if BROWSER is None:
        print(f"{PICTURE} stays as it is: there is no Chromium on this machine")
        return
    settings = ServiceSettings(models={"news": NEWS})
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), settings, {"news": (DECISIONS, CHANGE)}, past=1_800.0) as address,
        browsing() as page,
    ):
        with Client(address, model="news") as client:
            for hour in range(24):
                client.learn(client.decide({"hour": hour, "device": "phone"}), hour % 3 == 0)
        page.look(WIDTH, HEIGHT)
        page.open(f"{address}/#/news")
        page.until("document.querySelectorAll('.plot').length > 1")
        page.picture(PICTURE, WIDTH, HEIGHT)
    print(PICTURE)


if __name__ == "__main__":
    main()
