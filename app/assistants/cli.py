"""The command `cfplan mcp`."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from app.command_line import EXIT_OK, whole_number
from planner_core.errors import PlannerError

LIMIT_S, LONGEST_S = 60, 3600
NOT_INSTALLED = (
    "`cfplan mcp` needs the packages in requirements/mcp.txt, which are not installed. Install them with "
    "`.venv/bin/python -m pip install --require-hashes -r requirements/mcp.txt`, or the package as `cfplan[mcp]`."
)


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan mcp`."""
    parser.set_defaults(run=_mcp)
    parser.add_argument(
        "--limit",
        type=whole_number(1, LONGEST_S),
        default=LIMIT_S,
        metavar="SECONDS",
        help=f"end a call after this time (default: {LIMIT_S})",
    )


def _mcp(arguments: argparse.Namespace) -> int:
    if find_spec("mcp") is None:
        raise PlannerError(NOT_INSTALLED)
    import anyio

    from app.assistants.server import serve

    async def served() -> None:
        await serve(limit_s=arguments.limit)

    anyio.run(served)
    return EXIT_OK
