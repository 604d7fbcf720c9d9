"""A stand-in for zos_copy of ibm.ibm_zos_core 2.0.0, for text that becomes a data set."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.ibm.ibm_zos_core.plugins.module_utils.sysplex import sysplex

_OPTIONS = {
    "content": {"type": "str"},
    "src": {"type": "str"},
    "dest": {"type": "str", "required": True},
    "remote_src": {"type": "bool", "default": False},
    "replace": {"type": "bool", "default": False},
    "force": {"type": "bool", "default": False},
    "binary": {"type": "bool", "default": False},
    "backup": {"type": "bool", "default": False},
    "backup_name": {"type": "str"},
    "encoding": {"type": "dict"},
    "volume": {"type": "str"},
}


class ActionModule(ActionBase):
    """Store the text."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return whether the data set changed."""
        super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(_OPTIONS)
        with sysplex(task_vars) as state:
            known = state["data_sets"].get(given["dest"])
            if known is not None and not given["replace"]:
                return {"changed": False, "note": "The destination exists."}
            if not self._task.check_mode:
                state["data_sets"][given["dest"]] = given["content"]
        return {"changed": known != given["content"], "dest": given["dest"]}
