"""A stand-in for zos_operator of ibm.ibm_zos_core 2.0.0."""

from __future__ import annotations

import re
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.ibm.ibm_zos_core.plugins.module_utils.sysplex import answer, sysplex

_OPTIONS = {
    "cmd": {"type": "str", "required": True},
    "verbose": {"type": "bool", "default": False},
    "wait_time": {"type": "int", "default": 1},
    "time_unit": {"type": "str", "choices": ["s", "cs"], "default": "s"},
    "case_sensitive": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Issue the command; like the module, it reports a change for every command, and has no check mode."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the response."""
        super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(_OPTIONS)
        command = given["cmd"]
        if self._task.check_mode:
            return {"skipped": True}
        if re.search(r"(?<!\\)[$&]", command):
            return {"failed": True, "msg": f"Special characters must be escaped: {command}"}
        with sysplex(task_vars) as state:
            lines = answer(state, command.replace("\\", ""))
        if lines is None:
            return {"failed": True, "msg": f"The stand-in does not know the command {command}"}
        at = "SYSA       2026331  10:18:07.00             "
        shown = [f"{at}ISF031I CONSOLE OMVS0000 ACTIVATED", f"{at[:-1]}-{command}", f"{at}{lines[0]}"]
        shown += [" " * len(at) + line for line in lines[1:]]
        return {
            "changed": True, "rc": 0, "cmd": command, "elapsed": 0.1, "wait_time": given["wait_time"], "time_unit": "s",
            "stdout": "\n".join(shown), "stdout_lines": shown, "stderr": "", "stderr_lines": [],
        }  # fmt: skip
