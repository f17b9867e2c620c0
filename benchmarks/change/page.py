from pathlib import Path
from benchmarks.records import FOLDER

RECORDS = FOLDER / "change.jsonl"


def write(records, folder=FOLDER):
    return "no page yet"
