"""Student's t distribution, compared with printed tables."""

from __future__ import annotations

import pytest

from planner_core.student import student_quantile


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 6.3137515), (2, 2.9199856), (3, 2.3533634), (10, 1.8124611), (60, 1.6706489)],
)
def test_student_quantile_is_that_of_the_tables(degrees: int, expected: float) -> None:
    assert student_quantile(0.95, degrees) == pytest.approx(expected, abs=1e-6)
