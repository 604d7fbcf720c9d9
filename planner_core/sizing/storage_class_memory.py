"""Messages that overflow from a structure to storage-class memory, as far as published figures allow an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from planner_core.limits import limit
from planner_core.sizing.structure_size import Curve, elements_held, model_constant


@dataclass(frozen=True, slots=True)
class Overflow:
    """Messages that a structure does not have to hold, because storage-class memory does."""

    messages: int
    element_bytes: int
    """Storage of their list elements [bytes]: the least that storage-class memory must hold. IBM publishes neither a
    formula for SCMMAXSIZE nor one for the augmented space that it takes in the coupling facility."""
    cfcc_level: int
    lowest_cfcc_level: int
    highest_cfcc_level: int
    """The levels at which coupling facilities have storage-class memory."""

    @property
    def is_available(self) -> bool:
        """Whether coupling facilities of this CFCC level have storage-class memory."""
        return self.lowest_cfcc_level <= self.cfcc_level <= self.highest_cfcc_level


def overflow_of(messages: int, *, message_bytes: int, cfcc_level: int, curve: Curve) -> Overflow:
    """Return the estimate for the messages of one size.

    Args:
        messages: Messages that arrive after those for which the structure is sized.
        message_bytes: User data and MQ headers except the MQMD [bytes]; larger ones than 63 KB are offloaded.
        cfcc_level: Level of the coupling facility.
        curve: Costs of the structure, with the header that MQ adds.
    """
    elements = messages * elements_held(message_bytes, header_bytes=curve.header_bytes)
    return Overflow(
        messages=messages,
        element_bytes=elements * model_constant("element_bytes"),
        cfcc_level=cfcc_level,
        lowest_cfcc_level=limit("lowest_cfcc_level_scm"),
        highest_cfcc_level=limit("highest_cfcc_level_scm"),
    )
