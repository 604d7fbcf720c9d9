"""The queue-sharing group that owns a structure, from its queue manager or from XCF's structure name.

XCF and RMF name a structure by the group's name, padded to four characters with @, followed by MQ's name of the
structure. The same rule would split any long name, so a name is split only if the group is known to be one: from the
site's map, or from the group's own administrative structure or a connection of MQ's in the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from planner_core.names import ADMIN_STRUCTURE, OWN_STRUCTURES, STRUCTURE_PATTERN
from spark_jobs.readers.result import Ask, Collector

QsgMap = Mapping[tuple[str, str], str]
NO_GROUP: Final = ""
"""The entry of the site's map for a queue manager without a group."""

ANY_SYSTEM: Final = "ANY"
"""The system in questions and answers about a display, which does not name it."""

STRUCTURE_NAME: Final = re.compile(rf"{ADMIN_STRUCTURE}|[A-Z][A-Z0-9]{{0,11}}")
XCF_NAME: Final = re.compile(STRUCTURE_PATTERN)
SHORT_NAME: Final = re.compile(r"[A-Z0-9$#@]{1,4}")
QSG_NAME: Final = re.compile(r"[A-Z$#@][A-Z0-9$#@]{0,3}")
_GROUP_LENGTH: Final = 4
_CONNECTION: Final = re.compile(r"CSQE(?P<group>[A-Z][A-Z0-9$#@]{3})[A-Z0-9$#@]{3,6}")


class Groups:
    """The known groups, and the rule for splitting XCF's names."""

    def __init__(
        self, qsg_of: QsgMap, xcf_names: Iterable[str] = (), connections: Iterable[str] = ()
    ) -> None:
        self._known = {group for group in qsg_of.values() if group}
        for name in xcf_names:
            if name[_GROUP_LENGTH:] in OWN_STRUCTURES:
                self._known.add(name[:_GROUP_LENGTH].rstrip("@"))
        for connection in connections:
            found = _CONNECTION.fullmatch(connection)
            if found:
                self._known.add(found["group"].rstrip("@"))

    def split(self, xcf_name: str) -> tuple[str, str] | None:
        """Return the group and MQ's name of the structure; None if the group is not known."""
        group, structure = xcf_name[:_GROUP_LENGTH].rstrip("@"), xcf_name[_GROUP_LENGTH:]
        if group in self._known and STRUCTURE_NAME.fullmatch(structure):
            return group, structure
        return None


def ask_group(collector: Collector, *, system_id: str, queue_manager: str) -> None:
    """Ask for the group of a queue manager."""
    where = "" if system_id == ANY_SYSTEM else f" on {system_id}"
    message = f"Which queue-sharing group is queue manager {queue_manager}{where} in?"
    collector.ask(Ask("qsg", message, system_id, queue_manager))


def group_of_display(qsg_of: QsgMap, queue_manager: str) -> str | None:
    """Return the group of a queue manager that a display names without its system; None if that is unclear."""
    told = qsg_of.get((ANY_SYSTEM, queue_manager))
    if told is not None:
        return told
    groups = {group for (_, name), group in qsg_of.items() if name == queue_manager}
    return groups.pop() if len(groups) == 1 else None
