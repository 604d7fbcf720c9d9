"""Compare the number of messages that structures with offload rules hold, planned and counted message by message.

The count draws messages from a lognormal distribution, truncated at a maximum, puts them into a structure one after
another, and decides for each as MQ does. The planner gets the values that a user enters: mean, 95th percentile and
maximum of the same messages.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from math import ceil, exp, log
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.structure_result import Load, StructureResult

LARGEST_IN_CF, OFFLOADED_ELEMENTS, ELEMENT, HEADER = 64512, 2, 256, 372
KIB = 1024
LARGEST_MESSAGE = 100 * KIB * KIB
DRAWN = 100_000
MEANS = (500, 1500, 3500, 10_000, 30_000, 60_000)
WIDTHS = (0.3, 0.6, 1.0, 1.3, 1.6)
CUT_AT = ("80 %", "99 %", "largest", "50 x largest")
"""Maxima: a percentile of the distribution, or a multiple of the largest drawn message."""
LEVELS = (14, 25)
EDGES_KIB = (4, 32, 63)
PAGE = Path("docs/explanation/assumptions/message-size-distributions.md")
_BLOCK = re.compile(r"(<!-- message sizes: ([a-z]+) -->)\n(.*?)(<!-- end -->)", re.DOTALL)

Rules = tuple[tuple[int, int], ...]
"""Thresholds [percent] and sizes [K]."""
RULE_SETS: dict[str, Rules] = {
    "IBM's defaults": ((70, 32), (80, 4), (90, 0)),
    "80:4K": ((80, 4),),
    "60:32K": ((60, 32),),
    "50:16K 70:4K": ((50, 16), (70, 4)),
    "95:0K": ((95, 0),),
}


class Mix(NamedTuple):
    """Messages of one distribution in the order of arrival, and the figures that a user knows."""

    messages: tuple[int, ...]
    mean: float
    p95: int
    maximum: int


class Held(NamedTuple):
    """The number of messages in a structure, and how many of them are offloaded."""

    messages: int
    offloaded: int


@cache
def mix_of(mean: int, width: float, cut_at: str) -> Mix:
    """Return messages drawn from a distribution, the same ones every time."""
    drawing = random.Random(f"{mean} {width} {cut_at}")  # noqa: S311 - the same messages every time
    # The mean of a lognormal distribution is exp(mu + sigma² / 2).
    middle = log(mean) - width * width / 2
    limit = float("inf")
    if cut_at.endswith("%"):
        limit = exp(middle + width * NormalDist().inv_cdf(float(cut_at.rstrip(" %")) / 100))
    found: list[int] = []
    while len(found) < DRAWN:
        size = drawing.lognormvariate(middle, width)
        # A size above the limit is drawn again; lowering it instead would pile up messages at the maximum.
        if size <= limit:
            found.append(ceil(size))
    in_order = sorted(found)
    largest = ceil(limit) if cut_at.endswith("%") else in_order[-1]
    return Mix(
        messages=tuple(found),
        mean=round(sum(found) / DRAWN, 3),
        p95=in_order[DRAWN * 95 // 100 - 1],
        maximum=min(50 * largest, LARGEST_MESSAGE) if cut_at.startswith("50") else largest,
    )


def put_one_by_one(
    messages: Iterable[int], *, rules: Rules, entries: int, elements: int, most: int | None = None
) -> Held:
    """Put messages until the structure is full or has `most` messages."""
    used_entries = used_elements = offloaded = 0
    # Compared as whole numbers, so that no rounding decides at a threshold.
    goals = [(threshold * entries, threshold * elements, size * KIB) for threshold, size in rules]
    for size in messages:
        if used_entries == most:
            break
        stays = size <= LARGEST_IN_CF
        if stays:
            for entries_goal, elements_goal, over in goals:
                if size > over and (100 * used_entries > entries_goal or 100 * used_elements > elements_goal):
                    stays = False
                    break
        # An offloaded message leaves an entry and two elements in the structure.
        takes = -(-(size + HEADER) // ELEMENT) if stays else OFFLOADED_ELEMENTS
        if used_entries == entries or used_elements + takes > elements:
            break
        used_entries += 1
        used_elements += takes
        offloaded += not stays
    return Held(used_entries, offloaded)


@dataclass(frozen=True)
class Compared:
    """A figure of one structure, planned and counted."""

    planned: float
    counted: float

    @property
    def percent(self) -> float:
        """Difference between planner and count, as a percentage of the count."""
        return 100 * (self.planned / self.counted - 1)


def structure_of(
    mix: Mix, rules: Rules, *, level: int, initsize: str | None, backlog: int = 1000
) -> tuple[StructureResult, Load]:
    """Return the planner's result for a structure, and its load."""
    structure: dict[str, object] = {
        "name": "APP1",
        "cflevel": 5,
        "offload": {"rules": [{"usage_over": th, "size_over": f"{size}K"} for th, size in rules]},
        "size_with_offload": initsize is None,
        "queues": [
            {
                "name": "Q",
                "message_bytes": {"mean": mix.mean, "p95": mix.p95, "max": mix.maximum},
                "backlog": backlog,
            }
        ],
    }
    if initsize is not None:
        structure.update(initsize=initsize, size=initsize)
    plan = {
        "schema_version": 1,
        "qsg": "SQ03",
        "queue_managers": 2,
        "cfcc_level": level,
        "structures": [structure],
    }
    found = next(each for each in evaluate(read_object(plan)).structures if each.role == "application")
    if found.load is None:
        raise AssertionError
    return found, found.load


def pools_of(found: StructureResult, load: Load, size_bytes: int) -> tuple[int, int]:
    """Return the numbers of whole entries and elements in a structure."""
    bundle, elements_per_entry = found.curve.bundle_at(load.ratio)
    bundles = (size_bytes - found.curve.base) / bundle
    return int(bundles), int(bundles * elements_per_entry)


def capacity(mix: Mix, rules: Rules, *, level: int, initsize: str) -> Compared:
    """Compare the messages that a structure of this INITSIZE holds."""
    found, load = structure_of(mix, rules, level=level, initsize=initsize)
    entries, elements = pools_of(found, load, found.sizes.initsize_bytes)
    counted = put_one_by_one(cycle(mix.messages), rules=rules, entries=entries, elements=elements)
    return Compared(load.messages_in_initsize(offload=True), counted.messages)


def need(mix: Mix, rules: Rules, *, level: int, backlog: int) -> Compared:
    """Compare a backlog with the messages that the structure sized for it holds while its rules apply.

    `planned` and `counted` are swapped, so that `percent` has the sign of the error of the size.
    """
    found, load = structure_of(mix, rules, level=level, initsize=None, backlog=backlog)
    entries, elements = pools_of(found, load, found.sizes.need_bytes)
    counted = put_one_by_one(cycle(mix.messages), rules=rules, entries=entries, elements=elements)
    return Compared(counted.messages, backlog)


def shares_over(mix: Mix) -> Iterator[tuple[float, float]]:
    """Yield the shares of messages over 4K, 32K and 63K, from the planner and from the count."""
    _, load = structure_of(mix, ((50, 4), (60, 32)), level=25, initsize="1G")
    demand = load.demand
    for size in EDGES_KIB:
        planned = sum(band.messages for band in demand.bands if band.over_bytes >= size * KIB)
        counted = sum(message > size * KIB for message in mix.messages)
        yield planned / (demand.scale * demand.messages), counted / len(mix.messages)


def initsize_for(mean: int) -> str:
    """Return an INITSIZE for a few tens of thousands of messages."""
    return "256M" if mean < 10_000 else "1G"


def spans(
    widths: Sequence[float] = WIDTHS, means: Sequence[int] = MEANS
) -> Iterator[tuple[float, str, list[float]]]:
    """Yield differences [percent] for each width and set of rules, with the differences of sizes under `need`."""
    for width in widths:
        mixes = [(mean, mix_of(mean, width, cut_at)) for mean in means for cut_at in CUT_AT]
        for name, rules in RULE_SETS.items():
            yield (
                width,
                name,
                [
                    capacity(mix, rules, level=level, initsize=initsize_for(mean)).percent
                    for mean, mix in mixes
                    for level in LEVELS
                ],
            )
        yield (
            width,
            "need",
            [need(mix, RULE_SETS["IBM's defaults"], level=25, backlog=100_000).percent for _, mix in mixes],
        )


def span(differences: Sequence[float]) -> str:
    """Return the lowest and the highest difference as text."""
    return f"{min(differences):+.1f} to {max(differences):+.1f} %"


def held_table() -> list[str]:
    """Return the table of differences of held messages."""
    lines = [
        f"| sigma | {' | '.join(RULE_SETS)} | size for a backlog |",
        "|---" * (len(RULE_SETS) + 2) + "|",
    ]
    row: list[str] = []
    for width, name, differences in spans():
        row.append(span(differences))
        if name == "need":
            lines.append(f"| {width} | {' | '.join(row)} |")
            row = []
    return lines


def share_table() -> list[str]:
    """Return the table of the largest differences of the shares over 4K, 32K and 63K, in percentage points."""
    lines = ["| sigma | over 4K | over 32K | over 63K |", "|---|---|---|---|"]
    for width in WIDTHS:
        found = [list(shares_over(mix_of(mean, width, cut_at))) for mean in MEANS for cut_at in CUT_AT]
        cells = [
            f"{100 * max(abs(planned - counted) for planned, counted in column):.1f}"
            for column in zip(*found, strict=True)
        ]
        lines.append(f"| {width} | {' | '.join(cells)} |")
    return lines


TABLES = {"held": held_table, "shares": share_table}


def print_tables(page: Path | None = None) -> None:
    """Print the tables of the page about message size distributions, and write them into `page` if it is given."""
    made = {name: table() for name, table in TABLES.items()}
    for name, lines in made.items():
        print("\n".join(["", f"<!-- message sizes: {name} -->", *lines, "<!-- end -->"]), flush=True)
    if page is not None:
        text = page.read_text("utf-8")
        page.write_text(
            _BLOCK.sub(lambda match: "\n".join([match[1], *made[match[2]], match[4]]), text), "utf-8"
        )


def tables_on(page: Path) -> dict[str, list[str]]:
    """Return the lines of the tables on a page by name."""
    return {match[2]: match[3].splitlines() for match in _BLOCK.finditer(page.read_text("utf-8"))}
