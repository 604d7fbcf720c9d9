"""Run a module that Ansible sends on standard input, in a process forked from one that has imported its library.

Ansible sends each module with its library as source, which Python would compile for each task.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the module, which ends the process."""
    exec(compile(sys.stdin.read(), "<module>", "exec"), {"__name__": "__main__"})  # noqa: S102 - of Ansible
    return 0
