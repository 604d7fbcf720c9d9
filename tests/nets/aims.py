"""Measure the aims of the redesign: `python -m tests.nets.aims [CHECKOUT] [-v]`; deleted at its end, like these nets.

Lines, classes for each 1,000 lines of code, families of near-identical classes (at least five annotated fields, and at
least 80 % of the larger class's fields in common, transitively), untyped mappings, `as_json` methods, comments.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from itertools import combinations
from pathlib import Path

PACKAGES = ("planner_core", "app", "spark_jobs", "bench", "migrations")
PRODUCT = PACKAGES[:3]
FEWEST_FIELDS = 5
IN_COMMON = 0.8
_TOOL_COMMENT = re.compile(r"#\s*(noqa|type:|fmt:|pragma|ruff|----)")
_NO_CODE = {
    tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT,
}  # fmt: skip


def lines_of(text: str) -> tuple[int, int]:
    """Lines with code, docstrings not counted, and lines with a comment that is no instruction to a tool."""
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not _TOOL_COMMENT.match(token.string):
            comments.add(token.start[0])
        is_docstring = token.type == tokenize.STRING and token.line.lstrip().startswith('"""')
        if token.type not in _NO_CODE and not is_docstring:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code), len(comments)


def fields_of(node: ast.ClassDef) -> frozenset[str]:
    """The annotated fields of a class."""
    return frozenset(
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )


def families(shapes: list[tuple[str, frozenset[str]]]) -> list[list[str]]:
    """Classes that are alike, grouped."""
    parent = list(range(len(shapes)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    for (first, (_, one)), (second, (_, other)) in combinations(enumerate(shapes), 2):
        if len(one & other) >= IN_COMMON * max(len(one), len(other)):
            parent[root(first)] = root(second)
    groups: dict[int, list[str]] = {}
    for at, (name, _) in enumerate(shapes):
        groups.setdefault(root(at), []).append(name)
    return sorted((group for group in groups.values() if len(group) > 1), key=len, reverse=True)


def main() -> None:
    """Print one line for each figure; with -v the families."""
    given = [each for each in sys.argv[1:] if each != "-v"]
    root = Path(given[0] if given else ".")
    texts = {
        package: {path: path.read_text("utf-8") for path in sorted((root / package).rglob("*.py"))}
        for package in PACKAGES
    }
    shapes: list[tuple[str, frozenset[str]]] = []
    total = methods = all_code = all_comments = 0
    for package, files in texts.items():
        classes = code = comments = 0
        for path, text in files.items():
            total += len(text.splitlines())
            in_code, in_comments = lines_of(text)
            code, comments = code + in_code, comments + in_comments
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    classes += 1
                    if len(fields := fields_of(node)) >= FEWEST_FIELDS:
                        shapes.append((f"{path.relative_to(root)}:{node.name}", fields))
                elif isinstance(node, ast.FunctionDef) and package in PRODUCT:
                    methods += node.name.endswith("_json")
        print(
            f"{package}: {code} lines of code, {classes} classes, {1000 * classes / max(code, 1):.1f} per 1,000"
        )
        if package in PRODUCT:
            all_code, all_comments = all_code + code, all_comments + comments
    found = families(shapes)
    untyped = sum(len(re.findall(r"\b(?:dict|Mapping)\[str, Any\]", text)) for text in texts["app"].values())
    print(f"Python lines without tests: {total}")
    print(f"comment lines per 100 lines of code: {100 * all_comments / all_code:.2f}")
    print(f"families of near-identical classes: {len(found)}, classes in them: {sum(map(len, found))}")
    print(f"dict[str, Any] and Mapping[str, Any] in app: {untyped}")
    print(f"as_json and *_json functions: {methods}")
    if "-v" in sys.argv:
        for group in found:
            print(len(group), *group)


if __name__ == "__main__":
    main()
