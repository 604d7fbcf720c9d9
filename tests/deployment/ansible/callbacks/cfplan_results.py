"""Writes the results of each host of a play as JSON lines, so that one play can have a host for each case of a test."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path

from ansible import constants
from ansible.executor.task_result import CallbackTaskResult
from ansible.playbook import Playbook
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import action_loader, filter_loader, test_loader

DOCUMENTATION = """
name: cfplan_results
type: aggregate
short_description: Write the results of each host as JSON lines
description: Write the results of each host as JSON lines.
"""


ACTIONS = ("assert", "copy", "debug", "normal", "set_fact", "uri")


class CallbackModule(CallbackBase):
    """Write a line for each result of a task on a host."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "cfplan_results"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook: Playbook) -> None:
        """Load plugins once: Ansible forks a process for each task of each host, and each would load them again.

        For the same reason, all runs share the packed modules; by default, each run packs them again.
        """
        del playbook
        for loader in (filter_loader, test_loader):
            list(loader.all())
        for name in ACTIONS:
            action_loader.get(name, class_only=True)
        packed = Path(constants.DEFAULT_LOCAL_TMP, "ansiballz_cache")
        packed.symlink_to(os.environ["CFPLAN_TEST_PACKED_MODULES"], target_is_directory=True)
        gc.collect()
        gc.freeze()

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
