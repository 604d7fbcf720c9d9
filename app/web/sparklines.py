"""Small lines without axes, for a cell of a table."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT = 96, 20
"""Size of the drawing, in units of its own."""
_MARGIN = 1.5
"""Distance from the edge, so that the line is not cut off at its highest value."""


def spark_path(values: Sequence[float | None], *, highest: float | None = None) -> str:
    """Return the path of a line through values at equal distances. None is a gap; a single value is a short dash.

    Args:
        values: The values, oldest first.
        highest: The value at the upper edge, such as 100 for a percentage; by default, the highest value.
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    top = max([*known, 0.0 if highest is None else highest]) or 1.0
    step = (WIDTH - 2 * _MARGIN) / max(len(values) - 1, 1)
    parts: list[str] = []
    is_gap = True
    for nth, value in enumerate(values):
        if value is None:
            is_gap = True
            continue
        x = _MARGIN + nth * step
        y = HEIGHT - _MARGIN - max(value, 0) / top * (HEIGHT - 2 * _MARGIN)
        # The dash of no length is visible with round ends; otherwise, a value between two gaps would not be.
        parts.append(f"{'M' if is_gap else 'L'}{x:.1f} {y:.1f}" + ("h0" if is_gap else ""))
        is_gap = False
    return "".join(parts)
