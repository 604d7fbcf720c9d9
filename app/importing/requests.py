"""Bodies of requests about tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from app.running.requests import Text
from planner_core import tables
from planner_core.document.types import (
    CfccLevel,
    CfstructName,
    MessageBytes,
    QsgName,
    SizeFactor,
    TargetPercent,
)
from planner_core.limits import limit
from planner_core.texts.queue_inventory import InventorySettings
from planner_core.texts.structure_batch import BatchSettings

_MODEL = ConfigDict(extra="forbid", strict=True)
MOST_MAPPED: Final = 60
LONGEST_HEADING: Final = 200
Mapped = Annotated[
    dict[
        Annotated[str, Field(min_length=1, max_length=LONGEST_HEADING)],
        Annotated[str, Field(min_length=1, max_length=LONGEST_HEADING)],
    ],
    Field(
        max_length=MOST_MAPPED,
        description="The column of each heading that is not known, or - to ignore it.",
    ),
]
QueueManagers = Annotated[
    int,
    Field(ge=1, le=limit("queue_managers_per_group"), description="Queue managers defined to the group."),
]
_Level = Annotated[CfccLevel, Field(description="CFCC level of the coupling facilities.")]


class StructuresRequest(BaseModel):
    """A table of structures in the form of CFSizer."""

    model_config = _MODEL
    text: Annotated[Text, Field(description="CSV with one structure in each row.")]
    columns: Mapped = Field(default_factory=dict)
    plans: Annotated[bool, Field(description="Also return a plan document for each group.")] = False
    qsg: Annotated[QsgName | None, Field(description="Group of rows that name none.")] = None
    queue_managers: QueueManagers | None = None
    cfcc_level: _Level = 25
    target_usage_percent: TargetPercent = Decimal(
        tables.constants("sizing_choices")["target_usage_percent"].value
    )
    size_factor: SizeFactor = Decimal("1.5")

    def settings(self) -> BatchSettings:
        """Return the values that rows do not state."""
        return BatchSettings(
            qsg=self.qsg,
            queue_managers=self.queue_managers,
            cfcc_level=self.cfcc_level,
            target_usage_percent=self.target_usage_percent,
            size_factor=self.size_factor,
        )


class QueuesRequest(BaseModel):
    """A table of queues."""

    model_config = _MODEL
    text: Annotated[Text, Field(description="CSV with one queue in each row.")]
    columns: Mapped = Field(default_factory=dict)
    qsg: QsgName
    queue_managers: QueueManagers
    cfcc_level: _Level = 25
    structure: Annotated[CfstructName | None, Field(description="Structure of rows that name none.")] = None
    message_bytes: Annotated[
        MessageBytes | None, Field(description="Message size of rows that state none.")
    ] = None

    def settings(self) -> InventorySettings:
        """Return the values that the table does not state."""
        return InventorySettings(
            qsg=self.qsg,
            queue_managers=self.queue_managers,
            cfcc_level=self.cfcc_level,
            structure=self.structure,
            message_bytes=self.message_bytes,
        )
