"""Student's t distribution, for intervals of figures from few observations."""

from __future__ import annotations

import math
from functools import cache


@cache
def student_quantile(probability: float, degrees: int) -> float:
    """Return a quantile of Student's t distribution.

    >>> round(student_quantile(0.95, 5), 4), round(student_quantile(0.95, 1), 4)
    (2.015, 6.3138)
    """
    low, high = 0.0, 1.0
    while _student(high, degrees) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _student(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def _student(value: float, degrees: int) -> float:
    """Return the probability of Student's t below a positive value: a finite sum for whole degrees of freedom."""
    angle = math.atan2(value, math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    total, term = 0.0, (cosine if degrees % 2 else 1.0)
    for k in range(degrees % 2, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (k + 1) / (k + 2)
    if degrees % 2:
        return 0.5 + (angle + sine * total) / math.pi
    return 0.5 + sine * total / 2
