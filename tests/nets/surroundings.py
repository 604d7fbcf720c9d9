"""The environment that snapshots are written in: a fixed time, a fixed terminal, no settings of the user."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
"""When everything happens. The simulated data ends the day before."""
EARLIER = NOW - timedelta(days=14)
"""When the first nightly run happens, so that the second one has a forecast to score."""
CLOCK = "NETS_CLOCK"


def is_set() -> bool:
    """Whether this process runs in the environment already."""
    return CLOCK in os.environ


def environment(work: Path, *, now: datetime = NOW) -> dict[str, str]:
    """The environment of every process; the clock is compiled into `work` first."""
    library = work / "clock.so"
    if not library.exists():
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("CFPLAN_", "LC_", "LANG", "SPARK_")) and key != "NO_COLOR"
    }
    return {
        **kept,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1",
        "CFPLAN_NIGHT_HOUR": "off",
        **at(now),
    }


def at(now: datetime) -> Mapping[str, str]:
    """The part of the environment that sets the clock."""
    return {CLOCK: str(int(now.timestamp()))}


def run_again_inside(work: Path, arguments: list[str]) -> int:
    """Run this program again with the fixed clock."""
    command = [sys.executable, "-m", "tests.nets", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(work), check=False).returncode
