"""The option that names the usage history, for all jobs."""

from __future__ import annotations

import argparse
import os

VARIABLE = "CFPLAN_HISTORY_URL"


def add_history_option(parser: argparse.ArgumentParser) -> None:
    """Add `--history`. Without it, the environment names the history.

    A URL may contain a key. Every user of the machine can read command lines, but only the owner of a process can read its
    environment.
    """
    given = os.environ.get(VARIABLE, "")
    parser.add_argument(
        "--history",
        default=given or None,
        required=not given,
        metavar="URL",
        help=f"path or object-store URL of the usage history (default: the environment variable {VARIABLE})",
    )
