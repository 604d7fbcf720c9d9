"""Every figure of a result has an explanation that gives the same figure."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.contract.support import DATA, Service, one_structure, put, queue, sample_document

# Figures that repeat what the document or the curve's table says, not worked out by anything.
REPEATED = (
    *(
        "/queue_managers",
        "/cfcc_level",
        "/curve/cfcc_from",
        "/curve/cfcc_to",
        "/curve/entry_to_element_ratio/",
    ),
    *("/threshold", "/size_bytes"),
)


def documents() -> dict[str, dict[str, Any]]:
    from ruamel.yaml import YAML

    sample = sample_document()
    given = put(put(sample, "/structures/0/initsize", 262144), "/structures/0/size", 524288)
    several = put(sample, "/queue_managers", ["QM01", "QM02"])
    return {
        "sample": sample,
        "sq03": YAML(typ="safe", pure=True).load(DATA / "sq03.yaml"),
        "cfcc-14": one_structure(14, queue("Q", 200_000, 1024)),
        "cfcc-16": one_structure(16, queue("Q", 200_000, 70_000), queue("R", 10, 0)),
        "ibms-sizes": put(given, "/cfcc_level", 14),
        "auto-alter": put(sample, "/structures/0/allow_auto_alter", True),
        "ratio": put(sample, "/structures/0/entry_to_element_ratio", [1, 12]),
        "with-offload": put(sample, "/structures/0/size_with_offload", True),
        "growth": put(sample, "/growth", {"percent_per_year": 12.5, "years": 3}),
        "headroom": put(put(sample, "/headroom_percent", 33), "/admin/headroom_percent", 50),
        "names": several,
        "no-system": put(sample, "/system", {"include": False, "shared_channels": 0, "group_ur_messages": 0}),
        "db2": put(
            sample, "/structures/0/offload", {"to": "DB2", "rules": [{"usage_over": 70, "size_over": "0K"}]}
        ),
        "empty": put(sample, "/structures/0/queues", []),
        "no-structures": put(sample, "/structures", []),
    }


def figures(value: object, pointer: str = "") -> dict[str, int | float]:
    """Return every number in a result by its JSON pointer."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return {}
    if isinstance(value, (int, float)):
        return {pointer: value}
    found: dict[str, int | float] = {}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[arg-type]
    for key, child in pairs:
        found |= figures(child, f"{pointer}/{key}")
    return found


def number(value: object) -> Fraction:
    return Fraction(str(value))


def work_out(formula: str, names: dict[str, Fraction]) -> Fraction:
    """Return the value of a formula with sums, products, powers and five functions."""
    functions: dict[str, Callable[..., Any]] = {
        "ceil": lambda value: Fraction(math.ceil(value)),
        "floor": lambda value: Fraction(math.floor(value)),
        "max": max,
        "min": min,
        "round_up": lambda value, multiple: Fraction(math.ceil(Fraction(value) / multiple) * multiple),
    }

    def value_of(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant):
            return number(node.value)
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            return Fraction(functions[node.func.id](*map(value_of, node.args)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value_of(node.operand)
        assert isinstance(node, ast.BinOp), ast.dump(node)
        left, right = value_of(node.left), value_of(node.right)
        if isinstance(node.op, ast.Pow):
            return Fraction(left**right)
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else left - right

    return value_of(ast.parse(formula, mode="eval").body)


@pytest.mark.parametrize("name", list(documents()))
def test_every_figure_equals_its_explanation(service: Service, name: str) -> None:
    response = service.post("/api/v1/size?explain=true", documents()[name])
    assert response.status_code == 200, response.text
    result = response.json()
    explanations = result.pop("explanations")
    result.pop("findings")
    result.pop("finding_groups")

    found = figures(result)
    unexplained = [p for p in found if p not in explanations and not any(part in p for part in REPEATED)]
    assert unexplained == []
    assert set(explanations) <= set(found)
    for pointer, explanation in explanations.items():
        assert float(number(explanation["value"])) == pytest.approx(float(found[pointer]), rel=1e-12), pointer


@pytest.mark.parametrize("name", list(documents()))
def test_formula_of_every_explanation_gives_its_figure(service: Service, name: str) -> None:
    explanations = service.post("/api/v1/size?explain=true", documents()[name]).json()["explanations"]

    for pointer, explanation in explanations.items():
        names = {given["name"]: number(given["value"]) for given in explanation["inputs"]}
        for step in explanation["steps"]:
            names[step["name"]] = work_out(step["formula"], names)
            assert names[step["name"]] == number(step["value"]), (pointer, step)
        worked = work_out(explanation["formula"], names)
        assert float(worked) == pytest.approx(float(number(explanation["value"])), rel=1e-12), pointer


@pytest.mark.parametrize("name", list(documents()))
def test_every_explanation_names_a_source_and_a_basis(service: Service, name: str) -> None:
    explanations = service.post("/api/v1/size?explain=true", documents()[name]).json()["explanations"]

    # The four of the design; what the plan itself says, or follows from it, may have a word of its own.
    assert {"published", "read_off_chart", "derived", "assumed"} & {e["basis"] for e in explanations.values()}
    for pointer, explanation in explanations.items():
        assert explanation["basis"], pointer
        assert explanation["source"] or all(given["basis"] for given in explanation["inputs"]), pointer
        assert explanation["unit"], pointer
