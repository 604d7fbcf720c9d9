"""Write a z/OSMF workflow of a policy change: backup, definition, activation, rebuild of each structure, verification.

Sources: the schema workflow_v1.xsd (order of elements, lengths, at most 500 steps in the comments); z/OSMF Programming
Guide, Submitting a JCL job for batch processing (no job card in the template, JCL in column 1 directly after
<inlineTemplate>, at most 10,000 lines); Using Velocity templates for variable substitution (names that begin with $ are
replaced only if substitution="true"). The commands are those of the SETXCF output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from planner_core.checks.job import missing_for_job
from planner_core.plan.result import PlanResult
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.cfrm.render import define_statements, fragment, policy_size
from planner_core.texts.xcf.setxcf import (
    DISPLAY_POLICY,
    REALLOCATE,
    REALLOCATE_TEST,
    activate_command,
    display_command,
    rebuild_command,
)
from planner_core.units import format_size

MOST_STEPS: Final = 500
"""Maximum number of steps of a workflow, parent steps included."""
_OTHER_STEPS: Final = 8
"""An upper bound of the steps that are not rebuilds of structures."""
MOST_TEMPLATE_LINES: Final = 10_000
"""Maximum number of lines of a job in a workflow."""
_XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
_VERSION: Final = "1"
_NO: Final = {"substitution": "false"}
"""Stated on every text that could have variables: $ and # in names of structures and policies stay as they are."""

_UTILITY: Final = (
    "EXEC PGM=IXCMIAPU",
    "//SYSPRINT DD  SYSOUT=*",
    "//SYSABEND DD  SYSOUT=*",
    "//SYSIN    DD  *",
)
"""The start of a step that runs the utility; the Workflows task adds the JOB statement."""


_REPLACES: Final = (
    "The job has REPLACE(YES): a policy of this name is replaced, and can be defined again only from the listing of the "
    "backup. It must not be the active policy."
)


@dataclass(frozen=True, slots=True)
class _Step:
    """One step; `jcl` is the job that it submits, and None for a step that a person performs."""

    name: str
    title: str
    about: str
    instructions: Sequence[Element]
    jcl: str | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class CompletePolicy:
    """A policy with the statements of all products, which a job can define under its new name."""

    name: str
    base: str
    """The name of the policy into which the plan was merged."""
    lines: Sequence[str]
    """The input of IXCMIAPU."""


def workflow(result: PlanResult, complete: CompletePolicy | None = None) -> str:
    """Return the workflow definition of a plan as XML in ASCII.

    Args:
        result: The plan.
        complete: The policy that the job defines; None for the policy of the plan.
    """
    root = Element("workflow", {"xmlns:xsi": _XSI, "xsi:noNamespaceSchemaLocation": "workflow_v1.xsd"})
    _information(root, result)
    # Each step requires the one before it, so that nothing is activated before it was defined.
    before: str | None = None
    define = _define(result) if complete is None else _define_complete(complete)
    name = complete.name if complete else result.document.policy.name if define.jcl is not None else None
    for step in (_backup(), define, _activate(name), _test()):
        before = _append(root, step, before)
    rebuilds = SubElement(root, "step", {"name": "rebuild"})
    _text(rebuilds, "title", "Rebuild the structures whose change is pending")
    _text(
        rebuilds,
        "description",
        "One structure at a time, in this order. Go on only when a rebuild has ended.",
    )
    for step in _rebuilds(result):
        before = _append(rebuilds, step, before)
    before = _append(root, _verify(result), before)
    _append(root, _reallocate(), before)
    indent(root)
    written: bytes = tostring(root, encoding="us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written.decode("ascii")}\n'


def _information(root: Element, result: PlanResult) -> None:
    information = SubElement(root, "workflowInfo")
    _text(information, "workflowID", f"cfplan CFRM change {result.document.qsg}")
    _text(
        information,
        "workflowDefaultName",
        f"CFRM policy change for queue-sharing group {result.document.qsg}",
    )
    _text(
        information,
        "workflowDescription",
        f"Change the coupling facility structures of {result.document.qsg} to the planned sizes.",
    )
    _text(information, "workflowVersion", _VERSION)
    _text(information, "vendor", "cfplan")
    SubElement(information, "General")


def _append(parent: Element, step: _Step, before: str | None) -> str:
    """Append a step and return its name; the order of its elements is that of the schema."""
    made = SubElement(parent, "step", {"name": step.name, "optional": str(step.is_optional).lower()})
    _text(made, "title", step.title)
    _text(made, "description", step.about)
    if before is not None:
        SubElement(made, "prereqStep", {"name": before})
    SubElement(made, "instructions", _NO).extend(step.instructions)
    _text(made, "weight", "1")
    _text(made, "skills", "z/OS system programming")
    _text(made, "autoEnable", "false")
    _text(made, "canMarkAsFailed", "true")
    if step.jcl is not None:
        template = SubElement(made, "template")
        SubElement(template, "inlineTemplate", _NO).text = step.jcl
        SubElement(template, "submitAs", {"maxRc": "0"}).text = "JCL"
    return step.name


# ---- steps -----------------------------------------------------------------------------------------------------


def _backup() -> _Step:
    return _Step(
        "backup",
        "Back up the policies",
        "List all CFRM policies in the couple data set, so that the current one can be defined again.",
        [
            _paragraph(
                "The job lists every CFRM policy in SYSPRINT and changes nothing. Save the listing outside the spool before "
                "you continue: it is what you need to define the current policy again."
            )
        ],
        jcl="\n".join([f"//BACKUP   {_UTILITY[0]}", *_UTILITY[1:], " DATA TYPE(CFRM) REPORT(YES)", "/*", ""]),
    )


def _define(result: PlanResult) -> _Step:
    """Return the step that defines the policy: as a job if the plan has the whole policy, otherwise by hand."""
    document = result.document
    title = "Define the changed policy"
    if document.policy.job and not missing_for_job(document):
        jcl = "\n".join([f"//DEFINE   {_UTILITY[0]}", *_UTILITY[1:], *define_statements(result), "/*", ""])
        if jcl.count("\n") <= MOST_TEMPLATE_LINES:
            return _Step(
                "define",
                title,
                f"Define policy {document.policy.name} with all its coupling facilities and structures.",
                [
                    _paragraph(
                        "The policy holds only the coupling facilities and structures in the job. Structures of other products "
                        "that are allocated become pending deletion when it is activated: continue only if these are all that "
                        "the sysplex has. The job changes the administrative policy only."
                    ),
                    *([_paragraph(_REPLACES)] if document.policy.replace else []),
                ],
                jcl=jcl,
            )
    return _Step(
        "define",
        title,
        "Merge the STRUCTURE statements of the plan into the complete policy and define it under a new name.",
        [
            _paragraph(
                "A policy is always replaced as a whole. Merge these statements into the complete policy, with cfplan merge or by "
                "hand, give it a new name in DEFINE POLICY, and run IXCMIAPU with it. Do not replace the active policy."
            ),
            _preformatted(fragment(result)),
        ],
    )


def _define_complete(policy: CompletePolicy) -> _Step:
    """Return the step that defines a merged policy."""
    return _Step(
        "define",
        "Define the changed policy",
        f"Define policy {policy.name} with the statements of all products, and the plan merged into them.",
        [
            _paragraph(
                f"The job has every statement that policy {policy.base} had when the plan was merged into it. Check that {policy.base} is still "
                "active, and was not started again since then:"
            ),
            _preformatted(DISPLAY_POLICY),
            _paragraph(
                f"Continue only if it is, and if the listing of the step before has {policy.base} as it was merged: the activation "
                "would undo later changes. The job has REPLACE(NO), so it fails if a policy of this name exists. It changes the "
                "administrative policy only."
            ),
        ],
        jcl="\n".join([f"//DEFINE   {_UTILITY[0]}", *_UTILITY[1:], *policy.lines, "/*", ""]),
    )


def _activate(name: str | None) -> _Step:
    """Return the step that starts the policy; a policy that was merged by hand has a name that the plan does not know."""
    started = (
        [_paragraph("Start the new policy:"), _preformatted(activate_command(name))]
        if name is not None
        else [
            _paragraph(
                "Start the new policy. Replace policy-name with the name that you gave it in the step before:"
            ),
            _preformatted(activate_command(None)),
        ]
    )
    return _Step(
        "activate",
        "Activate the policy",
        "Start the new policy. Changes of allocated structures are pending after this.",
        [
            _paragraph("Check which policy is active, and write its name down:"),
            _preformatted(DISPLAY_POLICY),
            *started,
            _paragraph(
                "The response is IXC511I if the policy was accepted. To go back, start the previous policy with the same "
                "command. Other structures can change too if their statements differ."
            ),
        ],
    )


def _test() -> _Step:
    return _Step(
        "test-reallocate",
        "Read the report of the REALLOCATE test",
        "See the effect of the pending changes on every structure of the sysplex. Nothing changes.",
        [
            _preformatted(REALLOCATE_TEST),
            _paragraph(
                "Do not continue while it reports an error or an exception for one of these structures, such as a coupling facility "
                "without room."
            ),
        ],
    )


def _rebuilds(result: PlanResult) -> Iterator[_Step]:
    """Yield the rebuilds in the order of the plan; a plan with very many structures has several in one step."""
    each_step = -(-len(result.structures) // (MOST_STEPS - _OTHER_STEPS))
    for number, at in enumerate(range(0, len(result.structures), each_step), start=1):
        structures = result.structures[at : at + each_step]
        first = structures[0].cfrm_name
        others = f" and {len(structures) - 1} more" if len(structures) > 1 else ""
        yield _Step(
            f"rebuild-{number}",
            f"Rebuild {first}{others}",
            f"Bring the planned sizes of {first}{others} into effect.",
            [line for structure in structures for line in _rebuild(structure)],
        )


def _rebuild(structure: StructureResult) -> Iterator[Element]:
    yield _paragraph(f"{structure.cfrm_name}: {_sizes(structure)}. Display it:")
    yield _preformatted(display_command(structure))
    yield _paragraph(
        "Skip it if no policy change is pending. If its data would not fit in SIZE, wait until it is drained."
    )
    if structure.placement.duplex != "DISABLED":
        yield _paragraph(
            "If it is duplexed, it cannot be rebuilt: use the commands that cfplan diff lists for it, which stop duplexing first "
            "and start it afterwards."
        )
    yield _paragraph("Rebuild it. Puts and gets wait while it is copied:")
    yield _preformatted(rebuild_command(structure))


def _verify(result: PlanResult) -> _Step:
    displays = "\n".join([DISPLAY_POLICY, *(display_command(each) for each in result.structures)])
    listed = "\n".join(f"{each.cfrm_name:16}  {_sizes(each)}" for each in result.structures)
    return _Step(
        "verify",
        "Verify the change",
        "Compare the policy and each structure with the plan.",
        [
            _preformatted(displays),
            _paragraph("Each structure shows these sizes and no pending change:"),
            _preformatted(listed),
            _paragraph("cfplan diff compares the same displays with every value of the plan."),
        ],
    )


def _reallocate() -> _Step:
    return _Step(
        "reallocate",
        "Move structures to their preferred coupling facility",
        "Optional: REALLOCATE evaluates every structure of the sysplex.",
        [
            _paragraph(
                "REALLOCATE concerns all structures of the sysplex, not only those of this plan. It activates pending changes and may move "
                "structures. Read the report of the test again first:"
            ),
            _preformatted(REALLOCATE_TEST),
            _preformatted(REALLOCATE),
        ],
        is_optional=True,
    )


def _sizes(structure: StructureResult) -> str:
    sizes = structure.sizes
    return (
        f"INITSIZE({policy_size(sizes.initsize_bytes)}) {format_size(sizes.initsize_bytes)}, "
        f"SIZE({policy_size(sizes.size_bytes)}) {format_size(sizes.size_bytes)}"
    )


# ---- XML -------------------------------------------------------------------------------------------------------


def _text(parent: Element, tag: str, text: str) -> None:
    SubElement(parent, tag).text = text


def _paragraph(text: str) -> Element:
    made = Element("p")
    made.text = text
    return made


def _preformatted(text: str) -> Element:
    made = Element("pre")
    made.text = text
    return made
