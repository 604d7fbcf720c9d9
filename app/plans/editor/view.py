"""The editor's form, arranged for its template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.plans.editor import fields
from app.plans.editor.folding import FoldedQueues, still_folded
from app.plans.editor.form import ROWS_IN_STRUCTURE, CheckedForm, Typed
from app.plans.editor.settings import GROUP, QUEUE_COLUMNS, summaries
from app.web.field_values import Kind
from app.web.forms import FormField, filled, rows_of


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a list: its pointer and its fields."""

    at: str
    entries: tuple[FormField, ...]
    more: tuple[FormField, ...] = ()
    is_unfolded: bool = False

    @property
    def wrong(self) -> tuple[FormField, ...]:
        """The fields with errors."""
        return tuple(entry for entry in (*self.entries, *self.more) if entry.error)


@dataclass(frozen=True, slots=True)
class StructureForm:
    """One structure in the form."""

    at: str
    title: str
    summary: str
    is_open: bool
    entries: tuple[FormField, ...]
    more: tuple[FormField, ...]
    sizes: tuple[FormField, ...]
    offload: tuple[FormField, ...]
    rules: tuple[Row, ...]
    settings: str
    """The values of the collapsed fields that differ from those of a new structure."""
    is_unfolded: bool
    queues: tuple[Row, ...]
    queue_settings: str
    """The collapsed columns with values."""
    columns_unfolded: bool
    queues_as_text: bool
    folded: FoldedQueues | None
    """The stored queues that the form refers to; None if it contains its queues."""
    text: FormField
    paste: FormField
    paste_bytes: FormField
    paste_backlog: FormField
    paste_unfolded: bool
    wrong: int


@dataclass(frozen=True, slots=True)
class EditorForm:
    """The form of the editor with all its parts."""

    group: tuple[FormField, ...]
    group_more: tuple[FormField, ...]
    admin: tuple[FormField, ...]
    system: tuple[FormField, ...]
    policy: tuple[FormField, ...]
    settings: str
    """The values of the group's collapsed fields that differ from those of a new plan."""
    is_unfolded: bool
    facilities: tuple[Row, ...]
    structures: tuple[StructureForm, ...]
    clusters: tuple[FormField, ...]
    others: tuple[FormField, ...]
    others_paste: FormField
    acknowledged: tuple[Row, ...]
    wrong: tuple[FormField, ...]
    general: tuple[str, ...]
    focus: str
    columns: tuple[FormField, ...] = fields.QUEUE
    more_columns: tuple[FormField, ...] = QUEUE_COLUMNS
    most_rows: int = ROWS_IN_STRUCTURE


OPEN_STRUCTURES = 4
"""With more structures than this, each is collapsed to one line."""


def show(
    typed: Typed,
    checked: CheckedForm | None,
    *,
    focus: str = "",
    folded: Mapping[str, FoldedQueues] = MappingProxyType({}),
) -> EditorForm:
    """Return the form with its fields and their errors.

    Args:
        typed: The texts of the form.
        checked: The form with its errors; None if errors are not shown.
        focus: The field that gets the focus.
        folded: Structures whose queues the form may refer to, by pointer.
    """
    errors = checked.errors if checked else {}

    def is_shown(at: str) -> bool:
        return focus == f"{at}/queues" or any(name.startswith(f"{at}/queues") for name in errors)

    kept = still_folded(typed, folded, shown=is_shown)
    rows = rows_of(typed)
    maker = _Maker(typed, errors, focus)
    settings = summaries(typed)
    structures = tuple(
        _structure(
            maker,
            f"/structures/{row}",
            rows,
            settings,
            is_open=len(rows["/structures"]) <= OPEN_STRUCTURES,
            folded=kept.get(f"/structures/{row}"),
        )
        for row in rows["/structures"]
    )
    group_more = maker.entries("", fields.GROUP_MORE)
    admin = maker.entries("/admin", (*fields.ADMIN, *fields.ADMIN_MORE))
    system = maker.entries("/system", (*fields.SYSTEM, *fields.SYSTEM_MORE))
    policy = maker.entries("/policy", fields.POLICY)
    return EditorForm(
        group=maker.entries("", fields.GROUP),
        group_more=group_more,
        admin=admin,
        system=system,
        policy=policy,
        settings=settings[GROUP],
        is_unfolded=maker.is_unfolded((*group_more, *admin, *system, *policy)),
        facilities=tuple(
            _facility(maker, f"/coupling_facilities/{row}") for row in rows["/coupling_facilities"]
        ),
        structures=structures,
        clusters=maker.entries("", fields.CLUSTERS),
        others=maker.entries("", fields.OTHERS),
        others_paste=maker.plain(fields.OTHERS_PASTE, "CFRM policy or D XCF,STR,STRNAME="),
        acknowledged=tuple(
            Row(f"/acknowledged/{row}", maker.entries(f"/acknowledged/{row}", fields.ACKNOWLEDGED))
            for row in rows["/acknowledged"]
        ),
        wrong=tuple(FormField(name, label_of(name, typed), error=error) for name, error in errors.items()),
        general=checked.general if checked else (),
        focus=focus,
    )


class _Maker:
    def __init__(self, typed: Mapping[str, str], errors: Mapping[str, str], focus: str) -> None:
        self.typed, self.errors, self.focus = typed, errors, focus

    def entries(self, at: str, declared: Iterable[FormField]) -> tuple[FormField, ...]:
        return filled(declared, self.typed, self.errors, at=f"{at}/")

    def plain(self, name: str, label: str, kind: Kind = "text", hint: str = "") -> FormField:
        return FormField(name, label, kind, self.typed.get(name, ""), self.errors.get(name, ""), hint=hint)

    def is_unfolded(self, entries: Iterable[FormField]) -> bool:
        """Return whether collapsed fields are shown, because one has an error or gets the focus."""
        return any(entry.error or entry.name == self.focus for entry in entries)


def _facility(maker: _Maker, at: str) -> Row:
    more = maker.entries(at, fields.FACILITY_MORE)
    return Row(at, maker.entries(at, fields.FACILITY), more, maker.is_unfolded(more))


def _queue(maker: _Maker, at: str) -> Row:
    more = maker.entries(at, QUEUE_COLUMNS)
    return Row(at, maker.entries(at, fields.QUEUE), more, maker.is_unfolded(more))


def _structure(
    maker: _Maker,
    at: str,
    rows: Mapping[str, list[int]],
    settings: Mapping[str, str],
    *,
    is_open: bool,
    folded: FoldedQueues | None,
) -> StructureForm:
    is_text = folded is None and f"{at}/queues" in maker.typed
    more = maker.entries(at, fields.STRUCTURE_MORE)
    sizes, offload = maker.entries(at, fields.STRUCTURE_SIZES), maker.entries(at, fields.STRUCTURE_OFFLOAD)
    rules = tuple(
        Row(f"{at}/offload/rules/{n}", maker.entries(f"{at}/offload/rules/{n}", fields.RULE))
        for n in range(fields.RULES)
    )
    wrong = sum(name.startswith(f"{at}/") for name in maker.errors)
    name = maker.typed.get(f"{at}/name", "").strip()
    text = maker.plain(f"{at}/queues", "Queues, one on each line", hint="Separate cells with tabs.")
    queues = (
        ()
        if is_text or folded is not None
        else tuple(_queue(maker, f"{at}/queues/{n}") for n in rows[f"{at}/queues"])
    )
    # The first line of a text contains the column names.
    number = (
        folded.queues
        if folded is not None
        else max(sum(1 for line in text.value.splitlines() if line.strip()) - 1, 0)
        if is_text
        # A row in which only boxes are ticked becomes no queue.
        else sum(
            any(entry.value.strip() and entry.kind != "yes" for entry in (*row.entries, *row.more))
            for row in queues
        )
    )
    paste = maker.plain(f"{at}/paste", "Text")
    return StructureForm(
        at=at,
        title=name.upper() or "New structure",
        summary=f"{number} {'queue' if number == 1 else 'queues'}",
        # A collapsed structure would hide its errors, or the field that gets the focus.
        is_open=is_open or wrong > 0 or maker.focus.startswith(f"{at}/"),
        entries=maker.entries(at, fields.STRUCTURE),
        more=more,
        sizes=sizes,
        offload=offload,
        rules=rules,
        settings=settings[at],
        is_unfolded=maker.is_unfolded((*more, *sizes, *offload, *(e for row in rules for e in row.entries))),
        queues=queues,
        queue_settings=settings[f"{at}/queues"],
        columns_unfolded=any(row.is_unfolded for row in queues),
        queues_as_text=is_text,
        folded=folded,
        text=text,
        paste=paste,
        paste_bytes=maker.plain(f"{at}/paste_message_bytes", "Message bytes, if not in the text", "whole"),
        paste_backlog=maker.plain(f"{at}/paste_backlog", "Backlog, if not in the text", "whole"),
        paste_unfolded=bool(paste.value),
        wrong=wrong,
    )


_LABELS = {
    f"{at}/{spec.name}": spec.label
    for at, specs in (
        ("", (*fields.GROUP, *fields.GROUP_MORE, *fields.CLUSTERS, *fields.OTHERS)),
        ("/admin", (*fields.ADMIN, *fields.ADMIN_MORE)),
        ("/system", (*fields.SYSTEM, *fields.SYSTEM_MORE)),
        ("/policy", fields.POLICY),
        ("/coupling_facilities/*", (*fields.FACILITY, *fields.FACILITY_MORE)),
        (
            "/structures/*",
            (*fields.STRUCTURE, *fields.STRUCTURE_MORE, *fields.STRUCTURE_SIZES, *fields.STRUCTURE_OFFLOAD),
        ),
        ("/structures/*/offload/rules/*", fields.RULE),
        ("/structures/*/queues/*", fields.QUEUE_ALL),
        ("/acknowledged/*", fields.ACKNOWLEDGED),
    )
    for spec in specs
} | {"/structures/*/queues": "Queues", "/structures/*/paste": "Text"}
_PLACES = {"admin": "CSQ_ADMIN", "system": "CSQSYSAPPL", "policy": "Policy"}


def in_the_editor(pointer: str) -> str:
    """Return the text of the link from a finding of a stored plan to its field, such as `PREFLIST in the editor`.

    The finding itself names the structure.
    """
    known = pointer_pattern(pointer) in _LABELS
    return f"{label_of(pointer, {})} in the editor" if known else "in the editor"


def pointer_pattern(pointer: str) -> str:
    """Return a pointer with asterisks instead of the numbers of rows."""
    return "/".join("*" if part.isdigit() else part for part in pointer.split("/"))


def label_of(name: str, typed: Mapping[str, str]) -> str:
    """Return the label of a field for use outside the form, such as `APPLICATION1, PAYMENTS.IN: Backlog`."""
    parts = name.split("/")[1:]
    label = _LABELS.get(pointer_pattern(name), parts[-1])
    words = [_PLACES[parts[0]]] if parts[0] in _PLACES else []
    at = ""
    for part in parts:
        at += f"/{part}"
        if part.isdigit() and (called := typed.get(f"{at}/name", "").strip()) and f"{at}/name" != name:
            words.append(called)
    return ", ".join(words) + (": " if words else "") + label
