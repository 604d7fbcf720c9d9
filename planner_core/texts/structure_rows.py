"""Read structures in the form of CFSizer's page for IBM MQ: one row for each structure.

The fields are those of a screenshot in IBM's slides (ibm-wsc/mq-zos, Slides_QueueSharing.pdf, slide 32): queue managers
for the administrative structure; for an application structure two arrival rates, an average size, and the minutes that
CF storage and storage-class memory must hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from planner_core import names
from planner_core.errors import FieldProblem, InputInvalid, NameSyntax
from planner_core.limits import limit
from planner_core.sizing.structure_size import model_constant
from planner_core.texts.csv_rows import SHOWN, CsvColumn, RowReader, read_rows
from planner_core.texts.structure_cells import POLICY_COLUMNS, PolicyValue, plan_problems, policy_values

ROW: Final = "The row"
MOST_ROWS: Final = 10_000
RowType = Literal["application", "admin"]
_TYPES: Final[tuple[RowType, ...]] = ("application", "admin")
_MOST_RATE, _MOST_MINUTES = 10**9, 10**5
_MOST_BACKLOG: Final = 10**9
_LARGEST_MESSAGE: Final = 100 * 2**20
_ADMIN_RATIO: Final = (1, 2)
_OWN_RATIO: Final = (1, 6)
_MOST_RATIO: Final = 65_535
_RATIO = re.compile(r"([0-9]{1,5})\s*:\s*([0-9]{1,5})", re.ASCII)

COLUMNS: Final = (
    CsvColumn("structure", "CFSTRUCT name of an application structure; may be empty for the administrative structure", "APP1",
           aliases=("cfstruct", "name", "structurename")),
    CsvColumn("structure_type", "`application` or `admin` (CSQ_ADMIN); empty is application", "application", aliases=("type",)),
    CsvColumn("qsg", "queue-sharing group; empty uses that of the request", "SQ01", aliases=("group", "queuesharinggroup")),
    CsvColumn("queue_managers", "queue managers defined to the group; required in rows of type admin", "",
           aliases=("members", "queuemanagersinthegroup", "numberofqueuemanagers")),
    CsvColumn("small_per_minute", "messages smaller than 63 KB that arrive in a minute", "100",
           aliases=("arrivalrate", "arrivalratebelow63kb", "arrivalrateofmessagesbelow63kb", "arrivalrateless63kb", "smallrate")),
    CsvColumn("average_size", "average size of these messages [bytes], up to 64512", "956",
           aliases=("averagemessagesize", "avgsize", "size", "averagesizeofmessagesbelow63kb")),
    CsvColumn("large_per_minute", "messages of 63 KB and more that arrive in a minute", "0",
           aliases=("arrivalratefrom63kb", "arrivalrateofmessagesfrom63kb", "arrivalrate63kbormore", "largerate")),
    CsvColumn("large_size", "average size of the large messages [bytes]; affects only the space that their data takes outside", "",
           aliases=("averagesizeoflargemessages",)),
    CsvColumn("minutes", "minutes of messages that CF storage must hold (CF real storage message capacity)", "180",
           aliases=("capacityminutes", "outageminutes", "cfrealstoragemessagecapacity", "realstoragemessagecapacity")),
    CsvColumn("overflow_minutes", "further minutes that storage-class memory must hold (overflow message capacity)", "0",
           aliases=("scmminutes", "overflowmessagecapacity", "overflowscmmessagecapacity", "overflow")),
    CsvColumn("ratio", "entry-to-element ratio; 1:6 for application structures and 1:2 for CSQ_ADMIN if empty", "1:6",
           aliases=("entrytoelementratio",)),
    CsvColumn("cfcc_level", "CFCC level; empty uses that of the request", "25", aliases=("cfcc", "level")),
    CsvColumn("queue", "queue of the plan; empty uses the name of the structure", "", aliases=("queuename",)),
    *POLICY_COLUMNS,
)  # fmt: skip
"""The columns, in the order of the template; a file may have them in any order, and leave out optional ones."""
ADMIN_EXAMPLE: Final = {"structure_type": "admin", "qsg": "SQ01", "queue_managers": "8", "ratio": "1:2", "cfcc_level": "25"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureRow:
    """One structure, as in CFSizer's form."""

    line: int
    structure: str
    structure_type: RowType
    qsg: str
    queue_managers: int | None
    small_per_minute: Decimal
    average_size: int
    large_per_minute: Decimal
    large_size: int | None
    minutes: Decimal
    overflow_minutes: Decimal
    ratio: tuple[int, int] | None
    """The ratio of an application structure; None for 1:6, which needs no key in a plan."""
    cfcc_level: int | None
    queue: str
    policy: Mapping[str, PolicyValue]
    """The values of a CFRM policy that the row states, by column."""


def read_structure_rows(text: str, *, mapping: Mapping[str, str] | None = None) -> tuple[StructureRow, ...]:
    """Read a CSV file with one structure in each row.

    Args:
        text: The text; its first line has the headings.
        mapping: The column of further headings, or `-` for those to ignore.

    Raises:
        InputInvalid: A heading or a row is not valid; all errors are listed with line and column.
    """
    return tuple(read_rows(text, COLUMNS, _row, most_rows=MOST_ROWS, mapping=mapping))


def _row(values: Mapping[str, str], line: int) -> StructureRow:
    reading = _Row(values)
    kind: RowType = (
        reading.choice("structure_type", _TYPES) if reading.text("structure_type") else "application"
    )
    row = reading.admin(line) if kind == "admin" else reading.application(line)
    if reading.problems:
        raise InputInvalid(ROW, tuple(reading.problems))
    return row


class _Row(RowReader):
    """The cells of one structure."""

    def admin(self, line: int) -> StructureRow:
        """Read a row of the administrative structure."""
        name = self.text("structure").upper()
        if name not in ("", names.ADMIN_STRUCTURE):
            self.wrong(
                "structure",
                f"must be {names.ADMIN_STRUCTURE} or empty for the type admin, not {name[:SHOWN]!r}",
            )
        for column in ("small_per_minute", "average_size", "large_per_minute", "minutes", "overflow_minutes"):
            if self.text(column) not in ("", "0"):
                self.wrong(
                    column, "must be empty for the type admin, which holds no messages of applications"
                )
        if self._ratio() not in (None, _ADMIN_RATIO):
            self.wrong("ratio", "must be 1:2 or empty for the type admin, whose published sizes are at 1:2")
        return self._made(line, "admin", names.ADMIN_STRUCTURE, managers_required=True)

    def application(self, line: int) -> StructureRow:
        """Read a row of an application structure."""
        name = self._name("structure", names.cfstruct, self.text("structure").upper(), is_required=True)
        small = self.number("small_per_minute", _MOST_RATE, is_required=True)
        large = self.number("large_per_minute", _MOST_RATE)
        minutes = self.number("minutes", _MOST_MINUTES, is_required=True)
        overflow = self.number("overflow_minutes", _MOST_MINUTES)
        most = model_constant("largest_message_in_cf_bytes")
        average = self.whole("average_size", 0, most, is_required=bool(small))
        large_size = self.whole("large_size", most + 1, _LARGEST_MESSAGE)
        if max(small, large) * (minutes + overflow) > _MOST_BACKLOG:
            self.wrong("minutes", f"gives more than {_MOST_BACKLOG} messages at this arrival rate")
        elif not small and not large and not self.problems:
            self.wrong(
                "small_per_minute", "must be above zero, or large_per_minute: the row describes no messages"
            )
        ratio = self._ratio()
        return self._made(
            line, "application", name, small=small, average=average or 0, large=large, large_size=large_size,
            minutes=minutes, overflow=overflow, ratio=None if ratio == _OWN_RATIO else ratio,
        )  # fmt: skip

    def _made(
        self,
        line: int,
        kind: RowType,
        name: str,
        *,
        managers_required: bool = False,
        small: Decimal = Decimal(0),
        average: int = 0,
        large: Decimal = Decimal(0),
        large_size: int | None = None,
        minutes: Decimal = Decimal(0),
        overflow: Decimal = Decimal(0),
        ratio: tuple[int, int] | None = None,
    ) -> StructureRow:
        return StructureRow(
            line=line,
            structure=name,
            structure_type=kind,
            qsg=self._name("qsg", names.qsg, self.text("qsg").upper()),
            queue_managers=self.whole(
                "queue_managers", 1, limit("queue_managers_per_group"), is_required=managers_required
            ),
            small_per_minute=small,
            average_size=average,
            large_per_minute=large,
            large_size=large_size,
            minutes=minutes,
            overflow_minutes=overflow,
            ratio=ratio,
            cfcc_level=self.whole("cfcc_level", 1, 99),
            queue=self._name("queue", names.queue, self.text("queue")),
            policy=self._policy(),
        )

    def _name(self, column: str, check: Callable[[str], str], text: str, *, is_required: bool = False) -> str:
        if not text:
            if is_required:
                self.wrong(column, "is missing")
            return ""
        try:
            check(text)
        except NameSyntax as error:
            self.wrong(column, str(error).removesuffix("."))
        return text

    def _policy(self) -> Mapping[str, PolicyValue]:
        before = len(self.problems)
        found = policy_values(self)
        # A value that is no size at all would be reported twice.
        if found and len(self.problems) == before:
            self.problems += plan_problems(found)
        return found

    def _ratio(self) -> tuple[int, int] | None:
        text = self.text("ratio")
        if not text:
            return None
        found = _RATIO.fullmatch(text)
        ratio = (int(found[1]), int(found[2])) if found else (0, 0)
        if not all(1 <= each <= _MOST_RATIO for each in ratio):
            self.wrong("ratio", f"must be entries and elements, such as 1:6, not {text[:SHOWN]!r}")
        return ratio


def row_problem(row: StructureRow, column: str, message: str) -> FieldProblem:
    """Return an error of a row that was read."""
    return FieldProblem(f"line {row.line}, {column}", message)
