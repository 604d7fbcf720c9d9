"""Serve the application on the port in each line, until the process is killed."""

from __future__ import annotations

import uvicorn  # noqa: F401 - so that no child imports it

import app.main  # noqa: F401
from app import cli
from tests.forked_on_request import fork_for_each_line


def main() -> None:
    fork_for_each_line(lambda port: cli.main(["serve", "--port", port]))
