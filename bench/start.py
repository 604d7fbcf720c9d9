"""CPU time of short commands, against a Python process that does nothing and one that imports only argparse.

The processes alternate, so that other load on the machine affects all of them. Each runs once before it is measured, so
that its modules are compiled.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTHING, ARGPARSE = "python -c pass", "python -c 'import argparse'"
LIBRARIES, SERVICE = "import of web libraries", "import of the service"
MAIN = (sys.executable, "-c", "from app.cli import main_entry; main_entry()")
COMMANDS: dict[str, tuple[str, ...]] = {
    NOTHING: (sys.executable, "-c", "pass"),
    ARGPARSE: (sys.executable, "-c", "import argparse"),
    "cfplan --help": (*MAIN, "--help"),
    "cfplan plans put --help": (*MAIN, "plans", "put", "--help"),
    "cfplan structure": (
        *MAIN,
        "structure",
        "--messages",
        "200000",
        "--message-bytes",
        "1024",
        "--cfcc",
        "25",
    ),
    # What `cfplan serve` imports before it answers, and the part of it that is not cfplan's.
    LIBRARIES: (sys.executable, "-c", "import fastapi, jinja2, pydantic_settings, sqlalchemy.orm, uvicorn"),
    SERVICE: (sys.executable, "-c", "import app.main"),
    "cfplan plan": (*MAIN, "plan", "app/examples/sq03.yaml", "--output", "policy"),
}


WARM_UPS = 1
"""Rounds that are not measured."""


def measure(*, rounds: int) -> dict[str, float]:
    """Return the CPU milliseconds of each command: the median of the rounds."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for is_measured in (*([False] * WARM_UPS), *([True] * rounds)):
        for name, command in COMMANDS.items():
            spent = _cpu_s(command)
            if is_measured:
                times[name].append(spent)
    return {name: statistics.median(found) * 1000 for name, found in times.items()}


def _cpu_s(command: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
