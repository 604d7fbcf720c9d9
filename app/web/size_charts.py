"""Charts that compare INITSIZE and SIZE before and after, in groups of bars on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.web.axes import grouped
from app.web.charts import NO_ORIGIN, Bar, BarChart, BarMark, Origin, Part
from planner_core.units import KIB, MIB

MOST_GROUPS = 8
"""Maximum number of groups in a chart; the tables have all of them."""
_LONGEST_NAME = 24
_FARTHEST = 3
"""Storage more than this many times the longest bar is not drawn, because it would shorten all bars."""
_KIB_PER_MIB = MIB // KIB


@dataclass(frozen=True, slots=True)
class SizedBar:
    """INITSIZE and SIZE in one state [K]; None if the state does not have them."""

    name: str
    initsize_kib: int | None
    size_kib: int | None


@dataclass(frozen=True, slots=True)
class SizedGroup:
    """A structure or a coupling facility in all states, the one before the changes first."""

    name: str
    bars: tuple[SizedBar, ...]
    whole_kib: int | None = None
    """The storage that is available [K]; None if unknown."""

    @property
    def change_kib(self) -> int:
        """The largest difference from the first state, in INITSIZE or SIZE [K]."""
        first = self.bars[0]
        return max(
            (
                abs((after or 0) - (before or 0))
                for bar in self.bars[1:]
                for before, after in (
                    (first.initsize_kib, bar.initsize_kib),
                    (first.size_kib, bar.size_kib),
                )
            ),
            default=0,
        )


def sizes_chart(
    name: str,
    title: str,
    groups: Sequence[SizedGroup],
    *,
    whole_name: str = "",
    origin: Origin = NO_ORIGIN,
) -> BarChart | None:
    """Return the chart of the groups that change most, in their order; None if no group changes."""
    ranked = sorted((group for group in groups if group.change_kib), key=lambda group: -group.change_kib)
    if not ranked:
        return None
    drawn = [group for group in groups if group in ranked[:MOST_GROUPS]]
    longest = max(bar.size_kib or 0 for group in drawn for bar in group.bars)
    more = len(ranked) - len(drawn)
    words = "; ".join(
        f"{group.name}: {', '.join(f'{bar.name} {_amounts(bar)}' for bar in group.bars)}" for group in drawn
    )
    return BarChart(
        id=name,
        title=f"{title}, the {len(drawn)} that change most of {len(ranked)}" if more else title,
        description=f"INITSIZE and SIZE in MiB. {words}.",
        bars=tuple(bar for group in drawn for bar in _bars(group, longest)),
        is_beside=True,
        whole_name=whole_name,
        origin=origin,
        width=860,
    )


def _bars(group: SizedGroup, longest_kib: int) -> list[Bar]:
    """Return a heading with the name of the group, and a bar for each state."""
    is_near = group.whole_kib is not None and group.whole_kib <= longest_kib * _FARTHEST
    whole = float(group.whole_kib or 0) if is_near else None
    marks = () if whole is None else (BarMark(whole, "end", is_long=True),)
    return [
        Bar(group.name, "", (), is_heading=True),
        *(Bar(_cut(bar.name), _amounts(bar), _parts(bar), whole=whole, marks=marks) for bar in group.bars),
    ]


def _parts(bar: SizedBar) -> tuple[Part, ...]:
    if not bar.initsize_kib or bar.size_kib is None:
        return ()
    return (
        Part("initsize", bar.initsize_kib, f"INITSIZE {_mib(bar.initsize_kib)} MiB", "INITSIZE"),
        Part(
            "up-to-size",
            max(bar.size_kib - bar.initsize_kib, 0),
            f"SIZE {_mib(bar.size_kib)} MiB",
            "up to SIZE",
        ),
    )


def _amounts(bar: SizedBar) -> str:
    if not bar.initsize_kib or bar.size_kib is None:
        return "none"
    return f"{_mib(bar.initsize_kib)} to {_mib(bar.size_kib)} MiB"


def _mib(size_kib: int) -> str:
    return grouped(round(size_kib / _KIB_PER_MIB))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}"
