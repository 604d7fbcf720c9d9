"""Keep Arrow from importing pandas in processes that do not use it.

Arrow imports pandas, if it is installed, with the first value that it converts, to recognize pandas' own types. That takes
a third of the start of a process that reads files.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

PANDAS = "pandas"


class _Hidden:
    """A finder of modules that finds no pandas, and leaves all other modules to the finders after it."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == PANDAS:
            raise ModuleNotFoundError(name, name=name)
        return None


def hide_pandas_from_arrow() -> None:
    """Let Arrow look for pandas and find none. It looks only once; all other packages can import pandas afterwards."""
    import pyarrow as pa

    finder = _Hidden()
    sys.meta_path.insert(0, finder)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(finder)
