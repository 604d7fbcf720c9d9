"""A server of the tools whose tool `read_docs` never ends; the first argument is its time limit."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from app.assistants.tools import Outcome
from app.assistants.tools import call as real_call

PID_FILE = "CFPLAN_TEST_PID_FILE"


def call(name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool, or hang."""
    if name == "read_docs":
        Path(os.environ[PID_FILE]).write_text(str(os.getpid()))
        while True:
            time.sleep(3600)
    return real_call(name, arguments)


def main(limit_s: float) -> None:
    """Serve."""
    from app.assistants import server

    # The worker finds the function by its module, which is not `__main__` there.
    from tests.app.assistants import hanging_server

    setattr(server, "call", hanging_server.call)  # noqa: B010 - mypy: the module imports the name

    async def served() -> None:
        await server.serve(limit_s=limit_s)

    anyio.run(served)


if __name__ == "__main__":
    main(float(sys.argv[1]))
