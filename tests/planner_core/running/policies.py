"""Complete policies in any layout that an administrator may use, with their values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from planner_core.running.policy import PolicyDefinition
from planner_core.running.policy import policies as policies_of
from planner_core.texts.cfrm.text import TextStatement, read_policy_text

JUMBLE = [
    "STRUCTURE", "CF", "DATA", "DEFINE", "POLICY", "NAME", "SIZE", "INITSIZE", "PREFLIST", "(", ")", ",", " ", "\n",
    "\r\n", "/*", "*/", "//", "/", "1", "12K", "YES", "\u00b2", "\u2028", "\x0c", "\ufeff", "\x00", "A" * 80, "00010000",
    " " * 72,
]  # fmt: skip


@dataclass(frozen=True)
class WrittenStatement:
    """A written statement: its verb, and keywords with their values."""

    verb: str
    keywords: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class WrittenPolicy:
    """A text and its statements."""

    text: str
    statements: list[WrittenStatement]


_GAPS = (
    " ",
    "  ",
    "\n",
    "\n    ",
    "\n\n ",
    " /* A REMARK */ ",
    "\n /* OVER\n   LINES */\n ",
    "\n//* JCL REMARK\n",
    "\t",
)
_LIKE_A_NUMBER = re.compile(r"^[^\n]{71,72} *[0-9]+ *$", re.MULTILINE)
"""Text that looks like a sequence number is treated as one."""
_LETTERS = st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAMES = st.builds(str.__add__, _LETTERS, st.text("ABCXYZ0189$#@_", max_size=12))
_CF_NAMES = st.builds(str.__add__, _LETTERS, st.text("ABCXYZ0189", max_size=7))
_SIZES = st.builds(
    lambda number, unit: f"{number}{unit}", st.integers(1, 999_999), st.sampled_from(["", "K", "M", ""])
)


@st.composite
def structures(draw: st.DrawFn, name: str) -> WrittenStatement:
    """Draw a STRUCTURE statement with keywords in any order."""
    keywords: dict[str, tuple[str, ...]] = {
        "NAME": (name,),
        "SIZE": (draw(_SIZES),),
        "PREFLIST": tuple(draw(st.lists(_CF_NAMES, min_size=1, max_size=8, unique=True))),
    }
    optional = {
        "INITSIZE": _SIZES.map(lambda size: (size,)),
        "MINSIZE": _SIZES.map(lambda size: (size,)),
        "ALLOWAUTOALT": st.sampled_from([("YES",), ("NO",)]),
        "FULLTHRESHOLD": st.integers(0, 100).map(lambda value: (str(value),)),
        "EXCLLIST": st.lists(_NAMES, min_size=1, max_size=8, unique=True).map(tuple),
        "DUPLEX": st.sampled_from([("DISABLED",), ("ALLOWED",), ("ENABLED",), ("ENABLED", "CROSSSITE")]),
        "REBUILDPERCENT": st.integers(1, 100).map(lambda value: (str(value),)),
        "RECPRTY": st.integers(1, 4).map(lambda value: (str(value),)),
        "ENFORCEORDER": st.sampled_from([("YES",), ("NO",)]),
    }
    for keyword in draw(st.lists(st.sampled_from(sorted(optional)), unique=True)):
        keywords[keyword] = draw(optional[keyword])
    rest = draw(st.permutations([keyword for keyword in keywords if keyword != "NAME"]))
    return WrittenStatement("STRUCTURE", {key: keywords[key] for key in ("NAME", *rest)})


@st.composite
def written(draw: st.DrawFn, statement: WrittenStatement) -> str:
    """Draw a statement with any spacing, case and line breaks."""
    gap = st.sampled_from(_GAPS)
    small = st.sampled_from(["", "", " ", "\n  "])
    parts = [statement.verb]
    for keyword, values in statement.keywords.items():
        comma = draw(st.sampled_from([",", ", ", " , ", " ", ",\n        "]))
        parts.append(f"{draw(gap)}{keyword}{draw(small)}({draw(small)}{comma.join(values)}{draw(small)})")
    text = "".join(parts)
    return (
        text.lower() if draw(st.integers(0, 9)) == 0 and "REMARK" not in text and "JCL" not in text else text
    )


@st.composite
def policies(
    draw: st.DrawFn, *, names: tuple[str, ...] = (), min_foreign: int = 0, max_foreign: int = 4
) -> WrittenPolicy:
    """Draw a complete policy: CFs, structures of other products, and a statement for each of `names`, in any order."""
    facilities = draw(st.lists(_CF_NAMES, min_size=0, max_size=3, unique=True))
    foreign = draw(
        st.lists(
            _NAMES.map(lambda name: f"Z{name}"[:16]), min_size=min_foreign, max_size=max_foreign, unique=True
        )
    )
    statements = [
        WrittenStatement("DATA", {"TYPE": ("CFRM",)}),
        WrittenStatement("DEFINE POLICY", {"NAME": ("POLICY1",), "REPLACE": ("YES",)}),
    ]
    statements += [
        WrittenStatement("CF", {"NAME": (name,), "TYPE": ("003931",), "MFG": ("IBM",)}) for name in facilities
    ]
    order = draw(st.permutations([*foreign, *names]))
    statements += [draw(structures(name)) for name in order]
    gap = st.sampled_from(["\n", "\n\n", "\n/* BETWEEN */\n", "\n//* JCL\n", " "])
    text = draw(st.sampled_from(["", "//JOB JOB\n//SYSIN DD *\n", " /* TOP */\n", "\n"]))
    for statement in statements:
        text += draw(written(statement)) + draw(gap)
    assume(not _LIKE_A_NUMBER.search(text))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return WrittenPolicy(text, statements)


_STAMPS = ("10.21.33 STC01234  ", "SYS1 2026074 10:21:33.45 STC01234 ", " 10.21.33  ")


@st.composite
def pasted_policies(draw: st.DrawFn) -> WrittenPolicy:
    """Draw a policy as a console or its log shows it, with prefixes on lines and page headings between statements."""
    made = draw(policies(max_foreign=2))
    stamp = draw(st.sampled_from(_STAMPS))
    lines = [line for line in made.text.splitlines(keepends=True) if not line.startswith("//")]
    text = "".join(f"{stamp}{line}" for line in lines)
    assume(not _LIKE_A_NUMBER.search(text.replace("\r\n", "\n")))
    return WrittenPolicy(text, made.statements)


def read_policies(text: str) -> tuple[PolicyDefinition, ...]:
    return policies_of(read_policy_text(text))


def read_statements(text: str) -> tuple[TextStatement, ...]:
    """Return the statements of a text without damage."""
    read = read_policy_text(text)
    assert not read.problems
    return read.statements


def read_structures(text: str) -> tuple[TextStatement, ...]:
    return tuple(each for each in read_statements(text) if each.verb == "STRUCTURE")


def keywords_of(statement: TextStatement) -> dict[str, tuple[str, ...]]:
    return {each.keyword: each.values for each in statement.parameters}
