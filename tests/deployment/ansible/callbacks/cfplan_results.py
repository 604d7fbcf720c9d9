"""Writes the results of each host of a play as JSON lines, so that one play can have a host for each case of a test."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ansible.executor.task_result import CallbackTaskResult
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: cfplan_results
type: aggregate
short_description: Write the results of each host as JSON lines
description: Write the results of each host as JSON lines.
"""


class CallbackModule(CallbackBase):
    """Write a line for each result of a task on a host."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "cfplan_results"
    CALLBACK_NEEDS_ENABLED = True

    def _write(self, result: CallbackTaskResult, *, failed: bool) -> None:
        line = {
            "host": result.host.get_name(), "task": result.task_name, "failed": failed,
            "changed": bool(result.result.get("changed")), "text": str(result.result.get("msg", "")),
        }  # fmt: skip
        with Path(os.environ["CFPLAN_TEST_RESULTS"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def v2_runner_on_ok(self, result: CallbackTaskResult) -> None:
        """Write the result of a task that did not fail."""
        self._write(result, failed=False)

    def v2_runner_on_failed(self, result: CallbackTaskResult, ignore_errors: bool = False) -> None:
        """Write the result of a task that failed."""
        del ignore_errors
        self._write(result, failed=True)

    def v2_runner_on_unreachable(self, result: CallbackTaskResult) -> None:
        """Write the result of a host that cannot be reached."""
        self._write(result, failed=True)
