"""A stand-in for zos_job_submit of ibm.ibm_zos_core 2.0.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.ibm.ibm_zos_core.plugins.module_utils.sysplex import run_job, sysplex

_OPTIONS = {
    "src": {"type": "str", "required": True},
    "remote_src": {"type": "bool", "default": True},
    "wait_time": {"type": "int", "default": 10},
    "max_rc": {"type": "int"},
    "return_output": {"type": "bool", "default": True},
    "volume": {"type": "str"},
    "encoding": {"type": "dict"},
    "use_template": {"type": "bool", "default": False},
    "template_parameters": {"type": "dict"},
}


class ActionModule(ActionBase):
    """Run a job from a file of the control node."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the job."""
        super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(_OPTIONS)
        if self._task.check_mode:
            return {"changed": True, "jobs": []}
        if given["remote_src"]:
            return {"failed": True, "msg": "The stand-in has no data sets with jobs."}
        with sysplex(task_vars) as state:
            job = run_job(state, Path(given["src"]).read_text(encoding="utf-8"))
        if not given["return_output"]:
            job = {**job, "dds": []}
        if job["ret_code"]["code"] is None:
            return {
                "failed": True,
                "msg": "The job completion code (CC) was not in the job log.",
                "jobs": [job],
            }
        return {"changed": True, "jobs": [job]}
