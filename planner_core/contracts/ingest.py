"""The lines that `python -m spark_jobs.ingest` prints. docs/contributing/ingest-protocol.md describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, PlainSerializer

from planner_core.wire import Answer


@dataclass(frozen=True, slots=True)
class AskedQueueManager(Answer):
    """A queue manager whose group the records do not name."""

    # Texts name no system: the job writes null, and answers of the REST interface have always shown an empty name.
    system_id: Annotated[str | None, PlainSerializer(lambda name: name or "", return_type=str)] = None
    queue_manager: str = ""
    suggested: Annotated[
        str | None,
        Field(
            description="The group that other records of the file, or answers for other files, name. Confirm it before "
            "you use it."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Asks(Answer):
    """Questions that must be answered before anything is stored."""

    unknown_qsg: tuple[AskedQueueManager, ...] = ()
    observed_at: Annotated[bool, Field(description="When was the display taken? It does not say.")] = False
    zone: Annotated[bool, Field(description="Which time zone are its times in?")] = False
    messages: Annotated[tuple[str, ...], Field(description="The questions as sentences.")] = ()
