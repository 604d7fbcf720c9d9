"""The form of a question: its fields as typed, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import urlencode

from planner_core.questions import Question

AnyQuestion = TypeVar("AnyQuestion", bound=Question)
MOST_KEPT = 100
"""Characters of a field that are read and shown again."""


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One field: the text in it, what is wrong with it, and the slider that a script puts beside it."""

    name: str
    label: str
    value: str
    error: str = ""
    unit: str = ""
    hint: str = ""
    slider: tuple[str, str, str, str] | None = None
    """Lowest, highest, step, and where it stands while the field is empty."""


@dataclass(frozen=True, slots=True)
class Choices(Generic[AnyQuestion]):
    """The form, and the question that its fields ask; None while a field is in error."""

    fields: Mapping[str, ChoiceField]
    question: AnyQuestion | None
    query: str

    def __getitem__(self, name: str) -> ChoiceField:
        return self.fields[name]

    @property
    def wrong(self) -> tuple[ChoiceField, ...]:
        """The fields that must be mended."""
        return tuple(field for field in self.fields.values() if field.error)


def read_choices(
    model: type[AnyQuestion],
    given: Mapping[str, str],
    *,
    fields: Mapping[str, ChoiceField],
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
    shown = {}
    for name, field in fields.items():
        error = errors.get(name.partition("-")[0], "") if typed[name] else ""
        error = error and f"{error[:1].upper()}{error[1:]}."
        shown[name] = ChoiceField(name, field.label, typed[name], error, field.unit, field.hint, field.slider)
    return Choices(shown, question, urlencode({name: text for name, text in typed.items() if text}))
