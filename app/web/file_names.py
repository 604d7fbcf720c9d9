"""Names of files to download."""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def file_name(text: str) -> str:
    """Return the text without characters that are unsafe in file names or headers.

    >>> file_name("MQ$1-APP@")
    'MQ_1-APP_'
    """
    # Names of groups and structures may contain $, # and @.
    return _UNSAFE.sub("_", text)
