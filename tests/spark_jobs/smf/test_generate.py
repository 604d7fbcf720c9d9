"""Generated dumps: requested size and shares, equal for equal seeds, and valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_jobs.smf.decode import SECTIONS, Accounting, decode_file
from spark_jobs.smf.generate import SHARE, generate_dump
from tests.spark_jobs.smf.made import rows_of

SIZE = 6_000_000
KINDS = {"115-2": ("115-2",), "115-216": ("115-216",), "116": ("116-1", "116-2")}


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "night.smf"
    generate_dump(path, SIZE, 1)
    return path


def test_generated_dump_has_the_requested_size_and_shares(night: Path) -> None:
    size = night.stat().st_size
    assert abs(size - SIZE) < SIZE / 50
    account = Accounting()
    for result in decode_file(night, sections=[]):
        account.add(result.accounting)
    for share, kinds in KINDS.items():
        found = sum(account.skipped[kind][1] for kind in kinds)
        assert found / size == pytest.approx(SHARE[share], abs=0.03)


def test_generated_records_are_valid_and_unique(night: Path) -> None:
    results = list(
        decode_file(
            night, sections=SECTIONS, columns={"wq": ("record", "written_at", "correlation", "opened_at")}
        )
    )
    assert not any(result.accounting.quarantined or result.accounting.lost_bytes for result in results)
    tasks = [(row["written_at"], row["correlation"]) for row in rows_of(results, "wq")]
    assert len(tasks) == len(set(tasks))
    assert all(row["opened_at"] < row["written_at"] for row in rows_of(results, "wq"))
    intervals = [
        (row["queue_manager"], row["written_at"], row["structure"]) for row in rows_of(results, "qest")
    ]
    assert len(intervals) == len(set(intervals)) > 0


def test_equal_seeds_give_equal_dumps(night: Path, tmp_path: Path) -> None:
    generate_dump(tmp_path / "again.smf", SIZE, 1)
    generate_dump(tmp_path / "other.smf", SIZE, 2)
    assert (tmp_path / "again.smf").read_bytes() == night.read_bytes()
    assert (tmp_path / "other.smf").read_bytes() != night.read_bytes()
