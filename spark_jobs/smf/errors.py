"""The errors of reading SMF dumps."""

from __future__ import annotations

from planner_core.errors import PlannerError


class NotAnSmfDump(PlannerError):
    """A file that is not an SMF dump, or that lost parts needed to read it; the message explains how to transfer it."""


class NotAFile(NotAnSmfDump):
    """A folder, pipe or device, which cannot be read twice and may never end."""


class UnpacksTooLarge(NotAnSmfDump):
    """A packed file that exceeds the limits once unpacked."""


class LayoutError(PlannerError):
    """Records of a type without the known layout, so that nothing of that type may be stored."""


class BrokenChain(PlannerError):
    """Byte ranges of a dump that do not meet, so that it must be read in one piece."""
