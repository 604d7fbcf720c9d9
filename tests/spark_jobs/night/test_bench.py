"""A small benchmark of nightly runs: all engines must give equal results before their times count."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.soak
@pytest.mark.spark
def test_engines_give_the_same_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bench import night

    reductions, nights = night.measure(
        rows=20_000, structures=8, rounds=1, folder=tmp_path, large_rows=30_000
    )
    assert all(each.agree for each in reductions)
    assert 18_000 < reductions[0].rows < 22_000
    assert 27_000 < reductions[1].rows < 33_000
    assert [len(of) for of in nights.values()] == [1, 1, 1]
    assert nights["long"][0].days > 9 * nights["short"][0].days
    night.print_night(reductions, nights, night.Aims(15, 25, 1.2, 4, 2))
    printed = capsys.readouterr().out
    assert printed.count("all results are equal: yes") == 2
    assert printed.count("rows, of DuckDB") == 2, "each first reduction is compared with its aim"
    assert list(tmp_path.iterdir()) == [], "nothing is left"


def test_benchmark_detects_different_statistics() -> None:
    """Otherwise, engines could agree on empty results."""
    from bench import night
    from spark_jobs.night.statistics import KINDS, kept_schema

    empty = {kind: kept_schema(kind).empty_table() for kind in KINDS}
    other = dict(empty)
    row = dict.fromkeys(kept_schema(KINDS[0]).names)
    other[KINDS[0]] = other[KINDS[0]].from_pylist([row], schema=kept_schema(KINDS[0]))
    assert night.same(empty, empty)
    assert not night.same(empty, other)
