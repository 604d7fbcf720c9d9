"""The errors of reading SMF dumps."""

from __future__ import annotations

from planner_core.errors import PlannerError


class NotAnSmfDump(PlannerError):
    """A file that is not an SMF dump, or lacks parts needed to read it; the message explains how to transfer it."""


class NotAFile(NotAnSmfDump):
    """A folder, pipe or device, which cannot be read twice and may never end."""


class UnpacksTooLarge(NotAnSmfDump):
    """A compressed file that exceeds the limits when it is decompressed."""


class LayoutError(PlannerError):
    """Records whose layout is not the known one, so that no record of their type may be stored."""


class BrokenChain(PlannerError):
    """Byte ranges of a dump that are not contiguous, so that it must be read in one piece."""
