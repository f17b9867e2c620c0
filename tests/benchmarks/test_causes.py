"""Patches that put facts back, what is written down of them, and the causes that follow."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from banditboost.experiments.protocol import ALGORITHMS, PRINTED
from benchmarks import records
from benchmarks.causes import __main__ as runner
from benchmarks.causes import found
from benchmarks.causes.found import Cell
from benchmarks.causes.patches import BASE, ROOT, UNCHANGED, Patch, names


def has_base() -> bool:
    asked = ["git", "cat-file", "-e", f"{BASE}^{{commit}}"]
    try:
        return subprocess.run(asked, cwd=ROOT, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def line(cell: Cell, seeds: list[int], last: list[float], total: list[float]) -> tuple[Cell, dict[str, Any]]:
    return cell, {**cell._asdict(), "commit": BASE, "seeds": seeds, "last": last, "total": total}


def about(data: str, algorithm: str, **scores: tuple[list[float], list[float]]) -> dict[Cell, dict[str, Any]]:
    """Lines of one cell in mode "ours", by patch."""
    return dict(
        line(Cell(data, algorithm, "ours", patch), list(range(len(last))), last, total)
        for patch, (last, total) in scores.items()
    )


@pytest.mark.parametrize("name", names())
def test_a_patch_says_what_it_does_and_whom_it_concerns(name: str) -> None:
    first, second, *_ = Patch(name).texts[0].splitlines()
    assert first.endswith(".")
    assert ": " in first
    assert second.startswith("algorithms: ")
    assert set(Patch(name).algorithms) <= set(ALGORITHMS)
    assert Patch(name).algorithms


@pytest.mark.skipif(not has_base(), reason="a copy without history")
def test_a_clone_has_the_patch(tmp_path: Path) -> None:
    clone = Patch("exponent_z+step_sign").clone(tmp_path)
    text = (clone / "src/banditboost/boosting/binary.py").read_text(encoding="utf-8")
    assert "(1.0 - gamma) ** z, 1.0)" in text
    assert "log_alpha[i] -= settings.step * y" in text
    assert Patch("exponent_z+step_sign").clone(tmp_path) == clone
    plain = Patch(UNCHANGED).clone(tmp_path) / "src/banditboost/boosting/binary.py"
    assert "(1.0 - gamma) ** (z / 2.0), 1.0)" in plain.read_text(encoding="utf-8")


def test_an_unknown_patch_is_refused() -> None:
    with pytest.raises(SystemExit, match="no patch 'nonsense'; there are adafull_constants"):
        _ = Patch("nonsense").texts


def test_seeds_join_those_that_were_played(tmp_path: Path) -> None:
    path, cell = tmp_path / "causes.jsonl", Cell("car", "AdaFull", "ours", "derivative_sign")
    runner.add(cell, [5, 4], [(0.5, 0.25), (1.0, 0.75)], path)
    assert runner.missing(cell, range(4, 8), path) == [6, 7]
    runner.add(cell, [6], [(0.0, 0.125)], path)
    (read,) = records.read(path)
    assert (read["seeds"], read["last"], read["total"]) == ([4, 5, 6], [1.0, 0.5, 0.0], [0.75, 0.25, 0.125])
    assert runner.missing(cell._replace(mode="text"), [4], path) == [4]


def near(algorithm: str, last: float, total: float) -> tuple[list[float], list[float]]:
    """Three seeds so far from print on Balance."""
    shown = PRINTED["balance"][algorithm]
    spread = (-0.001, 0.0, 0.001)
    return [shown.last + last + by for by in spread], [shown.total + total + by for by in spread]


def told(**scores: tuple[list[float], list[float]]) -> str:
    return found.causes(about("balance", "AdaFull", **scores))["ours"]["balance"]["AdaFull"]


def test_a_fact_that_brings_a_cell_to_print_is_its_cause() -> None:
    far, close = near("AdaFull", 0.01, 0.04), near("AdaFull", 0.0, 0.01)
    assert told(unchanged=far, derivative_sign=close).startswith(
        "Not confirmed on fresh seeds: the sign inside the logistic is wrong"
    )
    assert told(unchanged=far, derivative_sign=close).endswith(
        "With it 0.930 / 0.860, without 0.940 / 0.890 (3 seeds). (Best of 1 tried.)"
    )


def test_less_than_that_is_a_part_or_nothing() -> None:
    far = near("AdaFull", 0.0, 0.06)
    assert told(unchanged=far, derivative_sign=near("AdaFull", 0.0, 0.03)).startswith(
        "Not confirmed on fresh seeds: In part: the sign"
    )
    assert told(unchanged=far, derivative_sign=near("AdaFull", 0.0, 0.05)) == (
        "no cause found; tried: derivative_sign."
    )
    assert told(unchanged=far) == "no cause found; tried: ."


def test_a_cell_that_is_within_on_fresh_seeds_may_be_chance() -> None:
    (far, far_too), (close, close_too) = near("AdaFull", 0.0, 0.06), near("AdaFull", 0.0, 0.0)
    lines = about("balance", "AdaFull", unchanged=(far + 2 * close, far_too + 2 * close_too))
    (line,) = lines.values()
    line["seeds"] = [4, 5, 6, *range(24, 30)]
    assert found.causes(lines)["ours"]["balance"]["AdaFull"] == (
        "no cause found: on 6 fresh seeds it is within 0.02, so it may be chance."
    )


def test_what_was_chosen_on_some_seeds_is_judged_on_others() -> None:
    (far, far_too), (close, close_too) = near("AdaFull", 0.0, 0.06), near("AdaFull", 0.0, 0.0)
    lines = about(
        "balance",
        "AdaFull",
        unchanged=(2 * far, 2 * far_too),
        derivative_sign=(close + far, close_too + far_too),
    )
    for read in lines.values():
        read["seeds"] = [4, 5, 6, 24, 25, 26]
    assert found.causes(lines)["ours"]["balance"]["AdaFull"] == "no cause found; tried: derivative_sign."


def test_what_is_no_fact_is_said_to_be_none() -> None:
    far, close = near("AdaFull", 0.0, 0.04), near("AdaFull", 0.0, 0.0)
    assert told(unchanged=far, own_weight=close).startswith(
        "no cause found; tried: . No fact of the program, but"
    )


def test_the_other_mode_serves_where_both_play_alike() -> None:
    lines = about("balance", "AdaFull", unchanged=near("AdaFull", 0.0, 0.04))
    lines |= {cell._replace(mode="text"): read for cell, read in lines.items()}
    lines |= about("balance", "AdaFull", derivative_sign=near("AdaFull", 0.0, 0.0))
    assert [trial.patch.name for trial in found.trials(lines, "balance", "AdaFull", "text")] == [
        "derivative_sign"
    ]


def test_cells_within_the_tolerance_are_not_told() -> None:
    assert found.causes(about("balance", "AdaFull", unchanged=near("AdaFull", 0.02, -0.02))) == {}


def test_the_kept_causes_follow_from_the_kept_records() -> None:
    kept, made = (tomllib.loads(text) for text in (runner.CAUSES.read_text(encoding="utf-8"), written()))
    assert made
    for mode, datasets in kept.items():
        for data, algorithms in datasets.items():
            for algorithm, text in algorithms.items():
                assert made[mode][data].get(algorithm, found.UNKNOWN) == text


def written() -> str:
    return found.toml(found.causes(runner.known(runner.RECORDS)))
