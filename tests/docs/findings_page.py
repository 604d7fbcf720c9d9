"""Generate docs/reference/findings.md from the catalogue: `python -m tests.docs.findings_page`."""

from __future__ import annotations

from textwrap import fill

from app.web.rendering import slug
from planner_core.findings import SEVERITIES, FindingKind, Severity, catalogue
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reference" / "findings.md"
_WIDTH = 120
_HEAD = (
    "# Findings",
    "A finding reports that part of a plan will not work or may behave unexpectedly, or names the basis of a figure. Look "
    "up its code here to see what it means, why it matters and what to do about it. [Reading a "
    "result](../explanation/reading-a-result.md#findings) explains the severities.",
    "In addition to its code, each finding has a message with the numbers of your plan, the field that it concerns (a JSON "
    "pointer into the plan document) and the structure. Where a single number has a source of its own, the finding "
    "names that source instead of the one given here.",
)
_SECTIONS: dict[Severity, tuple[str, str]] = {
    "error": (
        "Errors",
        "The plan cannot work. cfplan generates no text for z/OS while the plan has an error.",
    ),
    "warning": ("Warnings", "The plan can work, but something will surprise you."),
    "info": ("Info", "Good to know, such as an assumption behind a figure."),
}


def _source(kind: FindingKind) -> str:
    source = kind.source
    if source.url:
        return f"[{f'{source.document}, {source.section}'.removesuffix(', ')}]({source.url})"
    return f"[Assumptions, {source.section}](../explanation/assumptions.md#{slug(source.section)})"


def _paragraphs() -> list[str]:
    written = list(_HEAD)
    for severity in SEVERITIES:
        title, about = _SECTIONS[severity]
        written += [f"## {title}", about]
        for kind in catalogue().values():
            if kind.severity == severity:
                written += [
                    f"### {kind.code}",
                    f"**{kind.title}.**",
                    kind.meaning,
                    f"*Why it matters.* {kind.why}",
                    f"*What to do.* {kind.what_to_do}",
                    f"*Source.* {_source(kind)}",
                ]
    return written


def page() -> str:
    """Return the whole page."""
    return (
        "\n\n".join(
            fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
            for paragraph in _paragraphs()
        )
        + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
