"""What kinds of usage data there are, and which of them a file looks like.

Detection looks at the first bytes and the name only and never fails on odd content: what it
cannot tell is said, so that the person who brought the file can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from planner_core.errors import PlannerError

Kind = Literal[
    "smf",
    "mqsmf_csv",
    "mqsmf_json",
    "cfact_csv",
    "cfact_json",
    "overview_csv",
    "cfstatus",
    "cfstruct",
    "xcf_str",
    "messages",
    "template",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LOOKED_AT_BYTES: Final = 65_536
"""How much of a file detection wants to see."""

KIND_TITLES: Final[dict[Kind, str]] = {
    "smf": "SMF dump (MQ 115/116, RMF 74.4)",
    "mqsmf_csv": "mq-smf-csv output, CSV",
    "mqsmf_json": "mq-smf-csv output, JSON",
    "cfact_csv": "RMF Monitor III CFACT report, CSV",
    "cfact_json": "RMF Monitor III CFACT report, JSON",
    "overview_csv": "RMF overview conditions, CSV",
    "cfstatus": "DISPLAY CFSTATUS",
    "cfstruct": "DISPLAY CFSTRUCT",
    "xcf_str": "D XCF,STR,STRNAME=",
    "messages": "Messages IXC585E, IXC582I, IXC588I, IXL015I",
    "template": "cfplan's own CSV template",
}


class KindUnknown(PlannerError):
    """The content looks like none of the kinds; the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A kind and what it was recognised by."""

    kind: Kind
    reason: str


def detect(first: bytes, name: str = "") -> Detection:
    """What a file is, by its first bytes (64 KB are enough) and its name.

    Raises:
        KindUnknown: It looks like none of the kinds.
    """
    raise NotImplementedError
