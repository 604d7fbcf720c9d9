"""Jobs that read files do not import pandas, which would take a third of their start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.jobs import processes
from tests.spark_jobs.history import dumps

PANDAS = "pandas.core\n"
"""A module in the list; an attempt to import pandas is listed as well."""
LATER = """
from spark_jobs.without_pandas import hide_pandas_from_arrow
hide_pandas_from_arrow()
import sys
import pyarrow as pa
rows = pa.table({"a": pa.array([1, None]), "b": ["x", "y"]}).to_pylist()
assert rows == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}] and "pandas" not in sys.modules
import pandas
assert pandas.DataFrame(rows).shape == (2, 2)
"""


def imported(*command: str) -> str:
    """Return the list of modules that a process imported."""
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stderr


def test_other_packages_can_import_pandas_although_arrow_does_not_find_it() -> None:
    assert PANDAS in imported("-c", LATER)


@pytest.mark.parametrize("job", [processes.INGEST, processes.ROLLUP])
def test_job_that_reads_a_file_imports_no_pandas(job: str, tmp_path: Path) -> None:
    history = ("--history", str(tmp_path / "history"))
    dump = dumps.write(tmp_path / "night.smf", range(2))
    read = imported("-m", processes.INGEST, *history, *dumps.GROUPS, str(dump))
    found = read if job == processes.INGEST else imported("-m", job, *history)
    assert " pyarrow\n" in found
    assert PANDAS not in found
