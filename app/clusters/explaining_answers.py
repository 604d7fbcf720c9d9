"""The shape of the explanation of waiting messages, for its description in OpenAPI; a test holds real answers against it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from app.clusters.explaining import EXAMPLES, ExplainRequest, example_request, explanation_json
from app.web.answers import Answer
from app.web.openapi import model_schemas, put_examples, put_schemas
from planner_core.clusters.answer import ModeName, QueueDecision
from planner_core.findings import Finding
from planner_core.provenance import Assumption

PATH = "/api/v1/cluster/explain"
ReasonName = Literal[
    "not_eligible", "only_choice", "most_favoured", "put_disabled", "not_redriven", "channel_works", "unknown"
]


class ReasonCounts(Answer):
    """Messages by reason."""

    not_eligible: int
    only_choice: int
    most_favoured: int
    put_disabled: int
    not_redriven: int
    channel_works: int
    unknown: int


class WaitingMessageAnswer(Answer):
    """A message, and why it is where it is."""

    number: Annotated[
        int, Field(description="Place in the browse, from 1, or the number that the dump gives it.")
    ]
    message_id: str | None
    channel: Annotated[str | None, Field(description="The channel that it waits for.")]
    queue_manager: str | None
    queue: str | None
    put_at: Annotated[
        str | None, Field(description="Put time on the transmission queue; re-allocation renews it.")
    ]
    original_put_at: Annotated[str | None, Field(description="Put time of the application's own descriptor.")]
    eligible: Annotated[bool | None, Field(description="Null where the browse does not say.")]
    causes: list[Literal["bind_on_open", "group", "queue_manager_named", "system", "token_zero"]]
    reason: ReasonName
    explanation: str
    step: Annotated[str | None, Field(description="Of most_favoured: the step that decided.")]
    attribute: str | None
    goes_to: Annotated[list[str], Field(description="Of not_redriven: where the next attempt sends it.")]
    evaluated_since: Annotated[
        bool | None,
        Field(description="Whether its put time shows that it was looked at since; null: not known."),
    ]


class NextRetryAnswer(Answer):
    """When a channel tries again."""

    at: Annotated[str | None, Field(description="The next attempt, where a time is known to count from.")]
    within_s: Annotated[int | None, Field(description="At most this long after the display.")]
    interval_s: int | None
    attempts_left: int | None
    explanation: str


class WaitingChannelAnswer(Answer):
    """A channel and what waits for it."""

    channel: str | None
    queue_manager: str | None
    status: str | None
    messages: int
    counts: ReasonCounts
    last_evaluated_at: str | None
    in_doubt: bool | None
    next_retry: NextRetryAnswer | None


class TextProblemAnswer(Answer):
    """What could not be read, in which text and line."""

    text: str
    line: int
    message: str


class ExplanationOfMessages(Answer):
    """Why each message is where it is."""

    queue_manager: Annotated[str | None, Field(description="The sender; null where no display says it.")]
    mode: ModeName
    counts: ReasonCounts
    channels: list[WaitingChannelAnswer]
    messages: list[WaitingMessageAnswer]
    decisions: list[QueueDecision]
    assumptions: list[Assumption]
    problems: list[TextProblemAnswer]
    findings: list[Finding]


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    put_schemas(whole, model_schemas(ExplanationOfMessages), model_schemas(ExplainRequest, mode="validation"))
    asked = {each.name: (each.title, example_request(each)) for each in EXAMPLES}
    answers = {
        name: json.loads(explanation_json(json.dumps(request).encode()))
        for name, (_, request) in asked.items()
    }
    put_examples(whole["paths"][PATH]["post"], asked, answers)
