"""Read the forms about the running system: texts, files (unchanged, byte for byte), and the chosen plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.plans import service as plans
from app.plans.stored import EXAMPLE_CHOICE, StoredVersion
from app.running.texts import LARGEST_FILE_BYTES, MOST_TEXTS, WHAT, printable, running_example, text_of
from app.texts.documents import example_text, read_text
from app.web.field_values import value_of
from app.web.forms import read_posted
from planner_core.document.model import PlanDocument
from planner_core.document.types import message_bytes
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, PlannerError
from planner_core.plan.result import PlanResult
from planner_core.typed_numbers import size_text

SHOWN_CHARACTERS: Final = 2_000_000
"""Maximum length of a text that is shown again in its field."""
_MOST_FIELDS: Final = 40
_LONGEST_VALUE: Final = 200
_BOXES: Final = frozenset({"text", "document", "policy", "current"})
NEWLINES: Final[Mapping[str, str]] = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


@dataclass(frozen=True, slots=True)
class RunningForm:
    """A submitted form: text, and files by the name of their field."""

    typed: Mapping[str, str]
    files: Mapping[str, tuple[tuple[str, str], ...]]
    is_example: bool = False
    unread: tuple[FieldProblem, ...] = ()
    """Problems of files that are not text or are too long; the page lists them, and the form keeps everything else."""

    def check_files(self) -> None:
        """Raise an error if a file was not read.

        Raises:
            InputInvalid: A file was not read.
        """
        if self.unread:
            raise InputInvalid(WHAT, self.unread)

    def value(self, name: str) -> str:
        """Return the text of a single-line field."""
        return self.typed.get(name, "").strip()

    def texts(self, box: str, field: str) -> list[str]:
        """Return the text of a field, if any, and of its files."""
        typed = self.typed.get(box, "")
        return [*([typed] if typed.strip() else []), *(text for _, text in self.files.get(field, ()))]

    def whole(self, name: str, lowest: int, highest: int) -> int | None:
        """Return a whole number, or None if the field is empty.

        Raises:
            InputInvalid: The value is not a whole number, or is out of bounds.
        """
        text = self.value(name)
        if not text:
            return None
        number = value_of("whole", text)
        if not isinstance(number, int) or not lowest <= number <= highest:
            problem = FieldProblem(f"/{name}", f"must be a whole number between {lowest} and {highest}")
            raise InputInvalid(WHAT, (problem,))
        return number

    def message_bytes(self) -> int | None:
        """Return a message size, or None if the field is empty.

        Raises:
            InputInvalid: The value is not a message size.
        """
        text = self.value("message_bytes")
        try:
            return message_bytes(size_text(text)) if text else None
        except (PlannerError, ValueError) as error:
            raise InputInvalid(WHAT, (FieldProblem("/message_bytes", str(error)),)) from None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files, which the user must choose again."""
        return tuple(name for found in self.files.values() for name, _ in found)


async def given_form(request: Request) -> RunningForm:
    """Read the form; a policy gets the line ends of its file back if the form recorded them."""
    sent = await read_posted(
        request,
        largest_bytes=LARGEST_FILE_BYTES,
        most_files=MOST_TEXTS,
        most_fields=_MOST_FIELDS,
        largest_file_bytes=LARGEST_FILE_BYTES,
    )
    # Only the large fields may be long, because the other values are shown again in each answer.
    typed = {key: text if key in _BOXES else text[:_LONGEST_VALUE] for key, text in sent.texts}
    files: dict[str, list[tuple[str, str]]] = {}
    unread: list[FieldProblem] = []
    for each in sent.files:
        name = each.name[:_LONGEST_VALUE]
        try:
            files.setdefault(each.field, []).append((name, text_of(each.data, name)))
        except InputInvalid as error:
            box = _box_of(each.field)
            unread += (FieldProblem(f"/{box}", problem.message) for problem in error.problems)
    newline = NEWLINES.get(typed.get("newline", ""), "\n")
    for key in _BOXES & typed.keys():
        # Browsers send every line end of a text area as CR LF, but the merged policy must keep those of the file.
        plain = typed[key].replace("\r\n", "\n").replace("\r", "\n")
        typed[key] = plain.replace("\n", newline) if key == "policy" else plain
    return RunningForm(typed, {key: tuple(found) for key, found in files.items()}, unread=tuple(unread))


def _box_of(field: str) -> str:
    """Return the name of the text field that belongs to a file field."""
    return next((box for box in _BOXES if field.startswith(box)), "text")


GivenDep = Annotated[RunningForm, Depends(given_form)]


def example_given(name: str) -> RunningForm:
    """Return a form filled with the example."""
    example = running_example()
    boxes = {"policy": example.policy, "current": example.current, "text": example.policy}
    return RunningForm({**boxes, "plan": name or EXAMPLE_CHOICE, "cfcc": "25"}, {}, is_example=True)


def newline_of(text: str) -> str:
    """Return the name, as used in the form, of the line ends of a text."""
    counts = {name: text.count(end) for name, end in NEWLINES.items()}
    # A text with both kinds counts as CR LF, so that the form shows that it cannot return the text unchanged.
    if counts["crlf"]:
        return "crlf"
    return "cr" if counts["cr"] and not counts["lf"] else "lf"


def comes_back(text: str) -> bool:
    """Return whether a form sends a text back unchanged: short enough, only UTF-8, and one kind of line ends."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return (
        len(text) <= SHOWN_CHARACTERS
        and printable(text) == text
        # HTML parsers drop NUL or replace it.
        and "\0" not in text
        and plain.replace("\n", NEWLINES[newline_of(text)]) == text
    )


@dataclass(frozen=True, slots=True)
class ChosenPlan:
    """The plan chosen on a page, and the plans to choose from."""

    stored: tuple[str, ...]
    name: str
    text: str

    @property
    def is_example(self) -> bool:
        """Whether the example was chosen."""
        return self.name == EXAMPLE_CHOICE

    @property
    def origin(self) -> str:
        """A phrase that names the chosen plan."""
        if self.is_example:
            return "the example plan"
        if self.name:
            return f"the plan {self.name}"
        return "the plan document below" if self.text else "the plan that you choose"


def choose(session: Session, given: RunningForm) -> ChosenPlan:
    """Return the plan that the form names, and the document in it."""
    stored = plans.plan_names(session)
    document = next(iter(given.texts("document", "document_file")), "")
    return ChosenPlan(stored, given.value("plan"), document)


def result_of(session: Session, chosen: ChosenPlan, curves: Curves) -> PlanResult:
    """Return the result of the chosen plan; errors as for `read_chosen`.

    Raises:
        PlanRefused: The plan is impossible.
    """
    return evaluate(read_chosen(session, chosen)[0], curves, compares=False, purpose="sizes")


def read_chosen(session: Session, chosen: ChosenPlan) -> tuple[PlanDocument, StoredVersion | None]:
    """Return the document of the chosen plan, and the version that it belongs to; None if it is not stored.

    Raises:
        DocumentInvalid: The document is not valid.
        InputInvalid: No plan was chosen, or two plans were, or the plan does not exist.
    """
    # A document in addition to a chosen plan is refused, because either could have been left there by mistake.
    has_document = bool(chosen.text.strip())
    if chosen.name and has_document:
        named = "the example" if chosen.is_example else f"the stored plan {chosen.name[:64]}"
        message = f"is {named}, and a plan document was also entered: use only one of them"
        raise InputInvalid(WHAT, (FieldProblem("/plan", message),))
    if not chosen.name and not has_document:
        raise InputInvalid(
            WHAT, (FieldProblem("/plan", "is missing: choose a plan, or enter a plan document"),)
        )
    if chosen.name and not chosen.is_example:
        try:
            stored = plans.get_plan(session, chosen.name)
        except plans.PlanNotFound:
            problem = FieldProblem("/plan", f"there is no plan called {chosen.name[:64]}")
            raise InputInvalid(WHAT, (problem,)) from None
        return stored.document, stored
    try:
        text = example_text() if chosen.is_example else chosen.text
        return read_text(text.encode("utf-8", errors="replace")), None
    except DocumentInvalid as error:
        told = tuple(FieldProblem(f"/document{each.field}", each.message) for each in error.problems)
        raise DocumentInvalid(told) from None
