"""Calculate one figure with the command line, as a planner would."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from app.cli import main


def ask(*arguments: object) -> dict[str, Any]:
    """Run one cfplan command with --json and return its answer."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*map(str, arguments), "--json"])
    out.seek(0)
    err.seek(0)
    assert code == 0, f"exit code {code}: {err.read()}"
    answer = json.loads(out.read())
    assert isinstance(answer, dict)
    return answer
