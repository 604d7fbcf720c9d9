"""CFRM policy statements and the IXCMIAPU job, in columns 2 to 71, upper case.

The statement of a structure has every keyword that the plan sets. The fragment must be merged:
DEFINE POLICY with REPLACE(YES) replaces a whole policy. Syntax: z/OS 3.1 MVS Setting Up a
Sysplex, CFRM parameters for administrative data utility.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.document.model import CouplingFacility, PlanDocument
from planner_core.plan.result import PlanResult
from planner_core.sizing.structure_result import Placement, StructureResult
from planner_core.units import KIB, MIB, bytes_to_kib_ceil, ceil_div, round_up

LAST_COLUMN = 71
_INDENT = " " * 13
_MOST_DIGITS = 9
"""Maximum number of digits of a size before its unit."""
_COMMENT_AT = 40


def policy_size(size_bytes: int) -> str:
    """Return a size as a policy states it: in K, the default unit, or in M if nine digits of K do not suffice."""
    unit = _unit_of(size_bytes)
    return f"{ceil_div(size_bytes, unit)}{'M' if unit == MIB else ''}"


def policy_bytes(size_bytes: int) -> int:
    """Return a size rounded up to the unit in which a policy states it [bytes]."""
    return round_up(size_bytes, multiple=_unit_of(size_bytes))


def _unit_of(size_bytes: int) -> int:
    return KIB if bytes_to_kib_ceil(size_bytes) < 10**_MOST_DIGITS else MIB


def _sized(keyword: str, size_bytes: int) -> str:
    in_mb = f"{bytes_to_kib_ceil(size_bytes) / KIB:.2f}".rstrip("0").rstrip(".")
    return f"{_INDENT}{keyword}({policy_size(size_bytes)})".ljust(_COMMENT_AT) + f"/* {in_mb} MB */"


def listed(keyword: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield a keyword with a list of names, broken after commas to fit the columns."""
    line = f"{_INDENT}{keyword}("
    hang = " " * len(line)
    for index, name in enumerate(names):
        part = name + (")" if index == len(names) - 1 else ",")
        # Statements are safe in columns 2 to 71 only (docs/explanation/assumptions.md, Columns of IXCMIAPU input).
        if len(line) + len(part) > LAST_COLUMN:
            yield line
            line = hang
        line += part
    yield line


def structure_lines(structure: StructureResult) -> Iterator[str]:
    """Yield the lines of the STRUCTURE statement of a structure."""
    sizes, placement = structure.sizes, structure.placement
    yield f"   STRUCTURE NAME({structure.cfrm_name})"
    yield _sized("SIZE", sizes.size_bytes)
    yield _sized("INITSIZE", sizes.initsize_bytes)
    if sizes.minsize_bytes is not None:
        yield _sized("MINSIZE", sizes.minsize_bytes)
    if placement.scm_bytes is not None:
        yield _sized("SCMMAXSIZE", placement.scm_bytes)
        yield f"{_INDENT}SCMALGORITHM({placement.scm_algorithm})"
    yield f"{_INDENT}ALLOWAUTOALT({'YES' if placement.allow_auto_alter else 'NO'})"
    yield f"{_INDENT}FULLTHRESHOLD({placement.full_threshold})"
    yield f"{_INDENT}DUPLEX({_duplex(placement)})"
    if placement.exclist:
        yield from listed("EXCLLIST", placement.exclist)
    if placement.preflist:
        yield from listed("PREFLIST", placement.preflist)
    else:
        yield f"{_INDENT}/* PREFLIST IS REQUIRED: ADD IT BEFORE SUBMITTING */"
    if placement.enforce_order:
        yield f"{_INDENT}ENFORCEORDER(YES)"


def _duplex(placement: Placement) -> str:
    """Return the value of DUPLEX, with the site of the second copy unless DUPLEX is DISABLED."""
    if placement.duplex_site is None or placement.duplex == "DISABLED":
        return placement.duplex
    return f"{placement.duplex},{placement.duplex_site}"


def fragment(result: PlanResult) -> str:
    """Return the STRUCTURE statements of a plan, to merge into the sysplex's policy."""
    lines = [
        # Comments begin in column 2: /* in columns 1 and 2 would end the input of a job.
        f" /* STRUCTURES OF QUEUE-SHARING GROUP {result.document.qsg}: A FRAGMENT TO MERGE. */",
        " /* DEFINE POLICY WITH REPLACE(YES) REPLACES THE WHOLE POLICY: PUT   */",
        " /* THESE STATEMENTS AMONG ALL THE CF AND STRUCTURE STATEMENTS OF    */",
        " /* YOUR POLICY. A SIZE WITHOUT A UNIT IS IN K.                      */",
    ]
    for structure in result.structures:
        lines.extend(structure_lines(structure))
    return "\n".join(lines) + "\n"


def _facility_lines(facility: CouplingFacility) -> Iterator[str]:
    yield f"   CF NAME({facility.name})"
    fields = (
        ("TYPE", facility.type),
        ("MFG", facility.mfg),
        ("PLANT", facility.plant),
        ("SEQUENCE", facility.sequence),
        ("PARTITION", facility.partition),
        ("CPCID", facility.cpcid),
        ("DUMPSPACE", None if facility.dumpspace is None else policy_size(facility.dumpspace)),
        ("SITE", facility.site),
    )
    for keyword, value in fields:
        if value is not None:
            yield f"      {keyword}({value})"


def job(result: PlanResult) -> str:
    """Return the complete IXCMIAPU job of a plan that has all required fields."""
    document: PlanDocument = result.document
    lines = [
        f"//CFPLAN   JOB (ACCOUNT),'CFRM {document.policy.name}',CLASS=A,MSGCLASS=H",
        "//* ADAPT THE JOB CARD TO YOUR SITE.",
        "//* THE POLICY DEFINED HERE HOLDS ONLY THE COUPLING FACILITIES AND",
        "//* STRUCTURES BELOW. STRUCTURES OF OTHER PRODUCTS THAT ARE ALLOCATED",
        "//* BECOME PENDING DELETION WHEN SUCH A POLICY IS ACTIVATED: MERGE",
        "//* INSTEAD UNLESS THESE ARE ALL THAT THE SYSPLEX HAS.",
        "//DEFINE   EXEC PGM=IXCMIAPU",
        "//SYSPRINT DD  SYSOUT=*",
        "//SYSABEND DD  SYSOUT=*",
        "//SYSIN    DD  *",
        *define_statements(result),
        "/*",
    ]
    return "\n".join(lines) + "\n"


def define_statements(result: PlanResult) -> Iterator[str]:
    """Yield the input of IXCMIAPU that defines the policy of a plan that has all required fields."""
    document = result.document
    yield " DATA TYPE(CFRM) REPORT(YES)"
    yield f" DEFINE POLICY NAME({document.policy.name}) REPLACE({'YES' if document.policy.replace else 'NO'})"
    for facility in document.coupling_facilities:
        yield from _facility_lines(facility)
    for structure in result.structures:
        yield from structure_lines(structure)
