"""Keys of the plan document in messages of the core, with the labels that forms show for them."""

from __future__ import annotations

import re

FORM_LABELS = {
    "admin.headroom_percent": "Headroom for large units of work",
    "group_ur_messages": "Group units of recovery",
    "max_message_length": "MAXMSGL",
    "`occupied`": "Used by others",
    "`dumpspace`": "DUMPSPACE",
    "`size`": "Storage",
    "other_structures": "Structures of Db2 and others",
    "queue_manager_rates": "Puts/gets by queue manager",
    "shared_channels": "Shared channels",
    "size_factor": "SIZE as a multiple of INITSIZE",
}
"""The label of each key that occurs in a message, except for keys that equal their labels."""
KEY = re.compile(r"(?<![\w./`-])(?:" + "|".join(map(re.escape, FORM_LABELS)) + r")(?![\w(/-]|\.\w)")


def with_labels(message: str) -> str:
    """Return a message that names the fields of a form, each with its key, which is the name in a document.

    >>> with_labels("INITSIZE fits. Lower size_factor, now 1.5.")
    'INITSIZE fits. Lower SIZE as a multiple of INITSIZE (`size_factor`), now 1.5.'
    """
    return KEY.sub(lambda found: f"{FORM_LABELS[found[0]]} (`{found[0].strip('`')}`)", message)
