"""The form of a question: its fields as typed, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.web.forms import Form, FormField, filled, sentence
from planner_core.questions import Question

AnyQuestion = TypeVar("AnyQuestion", bound=Question)
MOST_KEPT = 100
"""Characters of a field that are read and shown again."""


@dataclass(frozen=True, slots=True)
class Choices(Form, Generic[AnyQuestion]):
    """The form of a question, and the question; None while a field is in error."""

    question: AnyQuestion | None = None


def read_choices(
    model: type[AnyQuestion],
    given: Mapping[str, str],
    *,
    fields: Mapping[str, FormField],
    structure: str | None = None,
) -> Choices[AnyQuestion]:
    """Read a form.

    Args:
        model: The question.
        given: What was sent; an empty field is one that was not used.
        fields: The fields with the texts that an empty address shows; of `rule` there are three, rule-1 to rule-3.
        structure: Name of the structure, known from the address of the page, where the question is about one.
    """
    typed = {
        name: given[name].strip()[:MOST_KEPT] if name in given else field.value
        for name, field in fields.items()
    }
    texts: dict[str, list[str]] = {} if structure is None else {"structure": [structure]}
    for name, text in typed.items():
        if text:
            texts.setdefault(name.partition("-")[0], []).append(text)
    question, errors = model.check(texts)
    wrong = {
        name: sentence(error)
        for name, text in typed.items()
        if text and (error := errors.get(name.partition("-")[0]))
    }
    return Choices({field.name: field for field in filled(fields.values(), typed, wrong)}, question=question)
