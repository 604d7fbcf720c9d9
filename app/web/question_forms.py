"""Forms of questions, with a field for each parameter that has a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.web.forms import Form, FormField, filled, sentence
from planner_core.questions import Question, parameters

AnyQuestion = TypeVar("AnyQuestion", bound=Question)
MOST_KEPT = 100
"""Maximum number of characters of a field that are read and shown again."""


@dataclass(frozen=True, slots=True)
class QuestionForm(Form, Generic[AnyQuestion]):
    """The form of a question, with the question itself, or None while a field has an error."""

    question: AnyQuestion | None = None


def question_fields(model: type[Question]) -> dict[str, FormField]:
    """Return the fields of a question by name, with the defaults of its parameters."""
    return {
        name: FormField(
            name,
            each.label.text,
            "text",
            each.default,
            unit=each.label.unit,
            hint=each.label.hint,
        )
        for name, each in parameters(model).items()
        if each.label
    }


def read_question(
    model: type[AnyQuestion],
    given: Mapping[str, str],
    fields: Mapping[str, FormField],
    *,
    structure: str | None = None,
    when_empty: Mapping[str, str] | None = None,
    most_kept: int = MOST_KEPT,
) -> QuestionForm[AnyQuestion]:
    """Read the form of a question.

    Args:
        model: The question.
        given: The submitted texts; a missing field has its default, and an empty one leaves its parameter out.
        fields: The fields. Several fields of a list are called rule-1, rule-2 and so on; one field may have
            several values, with blanks or commas between them.
        structure: Name of the structure, if the path of the page contains it.
        when_empty: Texts that replace empty ones.
        most_kept: The number of characters of a text that are read.
    """
    typed = {
        name: given[name].strip()[:most_kept] if name in given else field.value
        for name, field in fields.items()
    }
    known = parameters(model)
    texts: dict[str, list[str]] = {} if structure is None else {"structure": [structure]}
    for field, text in typed.items():
        if value := text or (when_empty or {}).get(field, ""):
            name = field.partition("-")[0]
            is_list = known[name].is_list and name == field
            texts.setdefault(name, []).extend(value.replace(",", " ").split() if is_list else [value])
    question, errors = model.check(texts, is_typed=True)
    # Fields of one list share an error; it is shown at those that contain text.
    wrong = {
        name: sentence(error)
        for name, text in typed.items()
        if text and (error := errors.get(name.partition("-")[0]))
    }
    shown = filled(fields.values(), typed, wrong)
    return QuestionForm({field.name: field for field in shown}, question=question)
