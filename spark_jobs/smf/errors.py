"""What is refused."""

from __future__ import annotations

from planner_core.errors import PlannerError


class NotAnSmfDump(PlannerError):
    """The bytes are no SMF dump, or one that lost what is needed to read it; the sentence says how to transfer it."""


class NotAFile(NotAnSmfDump):
    """A folder, pipe or device: what is no file cannot be read twice, and may never end."""


class UnpacksTooLarge(NotAnSmfDump):
    """A packed file that is beyond the limits once unpacked."""


class LayoutError(PlannerError):
    """Records of a type do not have the layout that is known of them: nothing of that type may be stored."""


class BrokenChain(PlannerError):
    """Byte ranges of a dump do not meet; the dump has to be read in one piece."""
