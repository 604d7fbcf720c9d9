"""The number of processor cores that this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
"""Quota and period [us] of the control group of a container (cgroup v2); the quota is `max` if there is none."""


def usable_cores(cpu_max: Path = CPU_MAX) -> int:
    """Return the number of cores, limited by the affinity of the process and by the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = cpu_max.read_text(encoding="ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError, ZeroDivisionError):  # no quota
        return cores
