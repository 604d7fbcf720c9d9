"""A stand-in for zos_job_output of ibm.ibm_zos_core 2.0.0."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.ibm.ibm_zos_core.plugins.module_utils.sysplex import sysplex

_OPTIONS = {
    "job_id": {"type": "str"},
    "job_name": {"type": "str"},
    "owner": {"type": "str"},
    "dd_name": {"type": "str", "aliases": ["ddname"]},
    "sysin_dd": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Return the output of a job."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the job with its output."""
        super().run(tmp, task_vars)
        _, given = self.validate_argument_spec(_OPTIONS)
        wanted = given["dd_name"]
        with sysplex(task_vars) as state:
            found = [job for job in state["jobs"] if job["job_id"] == given["job_id"]]
        jobs = [
            {**job, "dds": [dd for dd in job["dds"] if wanted in (None, "?", dd["dd_name"])]} for job in found
        ]
        return {"changed": False, "jobs": jobs}
