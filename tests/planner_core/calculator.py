"""A calculator for the formulas of explanations, independent of the code that calculates the figures."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def calculate(formula: str, names: Mapping[str, Fraction]) -> Fraction:
    """Return the exact value of a formula with + - * /, ceil, floor, max, min and round_up(value, multiple)."""
    return _value(ast.parse(formula, mode="eval").body, names)


def _value(node: ast.expr, names: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, names), _value(right, names)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
        case ast.Call(func=ast.Name(id=function), args=arguments):
            values = [_value(argument, names) for argument in arguments]
            match function:
                case "ceil":
                    return Fraction(math.ceil(values[0]))
                case "floor":
                    return Fraction(math.floor(values[0]))
                case "max":
                    return max(values)
                case "min":
                    return min(values)
                case "round_up":
                    return Fraction(math.ceil(values[0] / values[1])) * values[1]
    raise ValueError(ast.dump(node))


def recalculate(explanation: Mapping[str, Any]) -> Fraction:
    """Return the figure that the inputs of an explanation give; each step must have its stated value."""
    names = {item["name"]: Fraction(str(item["value"])) for item in explanation["inputs"]}
    for step in explanation["steps"]:
        names[step["name"]] = calculate(step["formula"], names)
        assert names[step["name"]] == Fraction(str(step["value"])), step
    return calculate(explanation["formula"], names)
