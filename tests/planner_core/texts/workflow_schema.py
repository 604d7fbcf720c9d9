"""The rules of z/OSMF workflow definitions that concern our workflows.

Written from the schema workflow_v1.xsd of z/OSMF (status HSMA237) and from the z/OSMF Programming Guide. The schema itself is
licensed material of IBM, so it is not part of this repository. Elements that our workflows do not use are unknown here:
a workflow that begins to use one fails until its rules are added.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

SHORT: Final = 100
TEMPLATE: Final = 1_000_000
MOST_STEPS: Final = 500
MOST_TEMPLATE_LINES: Final = 10_000
DEEPEST_STEP: Final = 5
MOST_PREREQUISITES: Final = 499
_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9\-_]*")
_BOOLEAN: Final = "true|false"


@dataclass(frozen=True)
class Rule:
    """The children of an element in order (`?` optional, `*` any number), its attributes, the length of its text."""

    children: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    longest: int | None = None
    is_rich: bool = False
    pattern: str | None = None


_SUBSTITUTION: Final = (("substitution", _BOOLEAN),)
RULES: Final[dict[str, Rule]] = {
    "workflow": Rule(("workflowInfo", "step*"), (("{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation", ".*"),)),
    "workflowInfo": Rule(("workflowID", "workflowDefaultName?", "workflowDescription", "workflowVersion", "vendor", "General?")),
    **{name: Rule(longest=SHORT) for name in ("workflowID", "workflowDefaultName", "workflowDescription", "workflowVersion", "vendor", "title", "skills")},
    "General": Rule(),
    "step": Rule((), (("name", _NAME.pattern), ("optional", _BOOLEAN))),
    "description": Rule(is_rich=True),
    "prereqStep": Rule((), (("name", ".{1,100}"),)),
    "instructions": Rule((), _SUBSTITUTION, is_rich=True),
    "weight": Rule(pattern="[1-9][0-9]{0,2}|1000"),
    "autoEnable": Rule(pattern=_BOOLEAN),
    "canMarkAsFailed": Rule(pattern=_BOOLEAN),
    "template": Rule(("inlineTemplate", "submitAs?")),
    "inlineTemplate": Rule((), _SUBSTITUTION, longest=TEMPLATE),
    "submitAs": Rule((), (("maxRc", "[0-9]{1,3}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-5]"),), pattern="JCL"),
}  # fmt: skip
_PARENT: Final = Rule(("title", "description", "prereqStep*", "step*"))
_LEAF: Final = Rule(
    ("title", "description", "prereqStep*", "instructions", "weight", "skills?", "autoEnable?", "canMarkAsFailed?", "template?")
)  # fmt: skip
_HTML: Final = frozenset({"p", "pre", "br", "ol", "ul", "li", "b", "i", "code"})


def problems(root: Element) -> list[str]:
    """Return the violations of the rules in a workflow definition."""
    found = [] if root.tag == "workflow" else [f"root {root.tag}"]
    _check(root, found, depth=0)
    names = [step.attrib.get("name", "") for step in root.iter("step")]
    found += [f"step {name} twice" for name, number in Counter(names).items() if number > 1]
    found += [
        f"prereqStep {each.attrib['name']}"
        for each in root.iter("prereqStep")
        if each.attrib["name"] not in names
    ]
    if len(names) > MOST_STEPS:
        found.append(f"{len(names)} steps")
    return found


def _check(element: Element, found: list[str], *, depth: int) -> None:
    rule = RULES.get(element.tag)
    if rule is None:
        found.append(f"unknown {element.tag}")
        return
    allowed = dict(rule.attributes)
    for name, value in element.attrib.items():
        if name not in allowed or not re.fullmatch(allowed[name], value):
            found.append(f"{element.tag} {name}={value!r}")
    if rule.is_rich:
        found += [
            f"{each.tag} in {element.tag}"
            for each in element.iter()
            if each is not element and each.tag not in _HTML
        ]
        # Attributes are known for links and tables only, which our workflows do not use.
        found += [
            f"attribute of {each.tag}" for each in element.iter() if each is not element and each.attrib
        ]
        return
    text = element.text or ""
    if element.tag == "step":
        depth += 1
        if depth > DEEPEST_STEP:
            found.append(f"step at depth {depth}")
        rule = _PARENT if element.find("step") is not None else _LEAF
    if rule.longest is not None and not 1 <= len(text.strip()) <= rule.longest:
        found.append(f"{element.tag} has {len(text)} characters")
    if rule.pattern is not None and not re.fullmatch(rule.pattern, text):
        found.append(f"{element.tag} is {text!r}")
    if len(element.findall("prereqStep")) > MOST_PREREQUISITES:
        found.append(f"{element.tag} has too many prereqStep")
    if rule.children and text.strip():
        found.append(f"text in {element.tag}")
    wanted = "".join(
        f"(?:{name.rstrip('?*')} ){name[-1] if name[-1] in '?*' else ''}" for name in rule.children
    )
    children = "".join(f"{child.tag} " for child in element)
    if not re.fullmatch(wanted, children):
        found.append(f"{element.tag} has {children}")
    if element.tag == "inlineTemplate" and text.count("\n") > MOST_TEMPLATE_LINES:
        found.append(f"a job of {text.count(chr(10))} lines")
    for child in element:
        _check(child, found, depth=depth)
