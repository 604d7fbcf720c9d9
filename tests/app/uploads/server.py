"""Serve the application on the port in each line, until the process is killed: `python -m tests.app.uploads.server`."""

from __future__ import annotations

import uvicorn  # noqa: F401 - so that no child imports it

import app.main  # noqa: F401
from app.cli import main
from tests.forked_on_request import fork_for_each_line

if __name__ == "__main__":
    fork_for_each_line(lambda port: main(["serve", "--port", port]))
