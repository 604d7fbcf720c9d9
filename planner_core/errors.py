"""Errors of the core as data. The application decides how to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from planner_core.wire import Answer

if TYPE_CHECKING:
    from planner_core.findings import Finding


_SHOWN_CHARACTERS = 40
SHOWN_PROBLEMS = 3


def _printable(text: str) -> str:
    """Return the text with escapes for characters that a terminal would act on."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class PlannerError(Exception):
    """Base of all errors of the core; `str()` is a sentence for a planner."""


class OutOfRange(PlannerError):
    """A number outside the range for which the core can calculate."""

    def __init__(
        self, *, field: str, value: object, lowest: object = None, highest: object = None, advice: str = ""
    ) -> None:
        """Build the message from the argument, its value and its range."""
        self.field, self.value, self.lowest, self.highest = field, value, lowest, highest
        if highest is None:
            span = f"at least {lowest}"
        elif lowest is None:
            span = f"at most {highest}"
        elif lowest == highest:
            span = f"{lowest}"
        else:
            span = f"between {lowest} and {highest}"
        super().__init__(f"{field} is {value}, but must be {span}.{' ' + advice if advice else ''}")


class SizeSyntax(PlannerError):
    """A text that is not a size."""

    def __init__(self, *, text: str, needs_unit: bool = False, problem: str = "") -> None:
        """Store the text, whether only its unit is missing, and any other problem with it."""
        self.text = text
        self.needs_unit = needs_unit
        self.problem = problem
        shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
        if problem:
            super().__init__(f"{problem}.")
        elif needs_unit:
            super().__init__(f"{shown!r} has no unit: write it with K, M, G or T, such as 32K.")
        else:
            super().__init__(
                f"{shown!r} is not a valid size: write a number and a unit K, M, G or T, such as 512M."
            )


class TextTooLong(PlannerError):
    """A text with more lines or words than any valid one; none of it was read."""


class NameSyntax(PlannerError):
    """A name that z/OS or MQ would reject."""


@dataclass(frozen=True, slots=True)
class FieldProblem(Answer):
    """An error in a field."""

    field: Annotated[
        str,
        Field(
            description="JSON pointer into the plan document (empty: the entire document), or the name of a parameter.",
            examples=["/structures/0/queues/0/message_bytes"],
        ),
    ]
    message: Annotated[str, Field(description="The error, in a sentence.")]

    def __str__(self) -> str:
        """Return field and message in one line."""
        return _printable(f"{self.field or 'document'}: {self.message}")


class _WithProblems(PlannerError):
    def __init__(self, what: str, problems: tuple[FieldProblem, ...]) -> None:
        """Store the problems; `what` begins the sentence, which shows the first few."""
        self.problems = problems
        shown = "; ".join(str(problem) for problem in problems[:SHOWN_PROBLEMS])
        rest = len(problems) - SHOWN_PROBLEMS
        super().__init__(f"{what} is not valid. {shown}{f' (and {rest} more)' if rest > 0 else ''}")


class DocumentInvalid(_WithProblems):
    """A plan document that cannot be read; every problem states its field."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        """Store the problems."""
        super().__init__("The plan document", problems)


class NotJson(DocumentInvalid):
    """Text that is not JSON, so the document in it cannot be read at all."""


# Not a base of DocumentInvalid: some callers catch one of the two and pass on the other.
class InputInvalid(_WithProblems):
    """An input other than a plan document that cannot be read; every problem states its field."""


class _WithFindings(PlannerError):
    def __init__(self, lead: str, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        errors = [finding.message for finding in findings if finding.severity == "error"]
        rest = len(errors) - SHOWN_PROBLEMS
        more = [f"(and {rest} more)"] if rest > 0 else []
        super().__init__(" ".join([lead, *errors[:SHOWN_PROBLEMS], *more]))


class PlanRefused(_WithFindings):
    """A valid document of a plan that cannot exist; nothing was calculated."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        """Store the findings that rule the plan out."""
        super().__init__("No such plan can exist.", findings)


class OutputRefused(_WithFindings):
    """A text output that is refused because it would be wrong or incomplete."""

    def __init__(
        self, kind: str, findings: tuple[Finding, ...], *, of: str = "plan", is_incomplete: bool = False
    ) -> None:
        """Store the reasons.

        Args:
            kind: The kind of output.
            findings: The findings that prevent it.
            of: The text with the errors: the plan or the merged policy.
            is_incomplete: Whether there are no errors, but values that only this output needs are missing.
        """
        self.kind = kind
        self.of = of
        why = (
            "needs values that are missing."
            if is_incomplete
            else f"is not available while the {of} has errors."
        )
        super().__init__(f"The {kind} output {why}", findings)


class UnknownOutput(PlannerError):
    """An unknown kind of output."""

    def __init__(self, kind: str, kinds: tuple[str, ...]) -> None:
        """Store the unknown kind."""
        self.kind = kind
        super().__init__(f"There is no output {kind!r}: choose one of {', '.join(kinds)}.")
