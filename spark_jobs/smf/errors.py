"""The errors of reading SMF dumps."""

from __future__ import annotations

from planner_core.errors import PlannerError


class NotAnSmfDump(PlannerError):
    """Not an SMF dump, or one that lost parts needed to read it; the message explains how to transfer it."""


class NotAFile(NotAnSmfDump):
    """A folder, pipe or device, which cannot be read twice and may never end."""


class UnpacksTooLarge(NotAnSmfDump):
    """A packed file that exceeds the limits once unpacked."""


class LayoutError(PlannerError):
    """Records of a type do not have the known layout, so nothing of that type may be stored."""


class BrokenChain(PlannerError):
    """Byte ranges of a dump do not meet, so it must be read in one piece."""
