"""What holds for keywords that the plan document does not state: the one declaration for commands, REST and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Unstated = Literal["policy", "plan"]
UNSTATED: Final[Mapping[Unstated, str]] = {
    "policy": "the policy's values",
    "plan": "the plan's defaults",
}
"""The choices in words, the default first."""
DEFAULT_UNSTATED: Final[Unstated] = "policy"
ABOUT_UNSTATED: Final = "For keywords that the plan document does not state: keep what the policy says (policy), or use the plan's defaults (plan)."
