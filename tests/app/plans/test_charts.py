"""The bars of coupling facilities and structures."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from app.plans.charts import MOST_STRUCTURES, facilities_chart, structures_chart
from app.plans.head import origin_of
from app.plans.result_view import facility_lines, structure_lines
from app.plans.stored import StoredVersion
from app.web.charts import BarChart
from bench.plans import bank, largest
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.wire import JsonObject


def saved(document: JsonObject) -> StoredVersion:
    """Return the first version of a plan."""
    result = evaluate(read_object(document)).as_json()
    return StoredVersion(
        plan_id=1,
        name="BANK",
        number=1,
        latest=1,
        created_at=datetime(2026, 11, 21, tzinfo=UTC),
        comment=None,
        core_version=result["core_version"],
        document_json=json.dumps(document),
        curve_json=json.dumps(result["curve"]),
        result_json=json.dumps(result),
    )


def facilities(version: StoredVersion) -> BarChart:
    chart = facilities_chart(facility_lines(version), version.result["structures"])
    assert chart is not None
    return chart


def test_bar_of_a_coupling_facility_adds_up_to_its_used_storage() -> None:
    version = saved(bank())
    for bar, line in zip(facilities(version).bars, facility_lines(version), strict=True):
        used = line.occupied_kib + line.dumpspace_kib + line.initsize_kib + line.second_copies_kib
        assert sum(part.amount for part in bar.parts) == used
        assert bar.whole == line.storage_kib
        (grown,) = bar.marks
        assert grown.at == used - line.initsize_kib - line.second_copies_kib + (
            line.size_kib + line.second_copies_size_kib
        )


def test_each_structure_is_a_part_of_the_bar_of_its_coupling_facility() -> None:
    first, second = facilities(saved(bank())).bars
    titles = [part.title for bar in (first, second) for part in bar.parts]
    assert sum("BANKLEDGER: " in title for title in titles) == 1
    assert sum("BANKLEDGER, second copy: " in title for title in titles) == 1
    assert sum(part.style == "held" for bar in (first, second) for part in bar.parts) == 20


def test_coupling_facility_too_small_for_size_says_so_in_words() -> None:
    document = bank()
    document["coupling_facilities"][1]["size"] = "50G"
    first, second = facilities(saved(document)).bars
    assert first.text.endswith("of 65\u202f536 MiB")
    assert second.text.startswith("too small for SIZE: ")


def test_coupling_facility_without_enough_storage_says_so_in_words() -> None:
    line = replace(facility_lines(saved(bank()))[0], storage_kib=1024, free_kib=-1)
    chart = facilities_chart((line,), ())
    assert chart is not None
    assert chart.bars[0].text.startswith("not enough storage: ")
    assert chart.bars[0].warning == "not enough storage"


def test_coupling_facility_of_unknown_size_says_so_in_words() -> None:
    line = replace(facility_lines(saved(bank()))[0], storage_kib=None, free_kib=None)
    chart = facilities_chart((line,), ())
    assert chart is not None
    assert chart.bars[0].whole is None
    assert chart.bars[0].text.endswith("MiB; size not stated")


def test_charts_of_a_plan_have_a_legend_and_their_origin() -> None:
    version = saved(bank())
    chart = facilities_chart(facility_lines(version), version.result["structures"], origin_of(version))
    assert chart is not None
    assert [item.name for item in chart.legend] == [
        "other use",
        "structures, INITSIZE",
        "second copies",
        "all at SIZE",
        "storage",
    ]
    assert chart.origin.subject == f"plan {version.name}"
    assert chart.origin.period == f"version {version.number} of {version.created_at:%Y-%m-%d}"
    sizes = structures_chart(structure_lines(version), origin_of(version))
    assert [item.name for item in sizes.legend] == ["INITSIZE", "up to SIZE", "need"]
    assert sizes.origin == chart.origin


def test_result_without_places_has_one_part_for_all_structures() -> None:
    version = saved(bank())
    structures = [
        {key: value for key, value in each.items() if key not in ("coupling_facility", "second_copy")}
        for each in version.result["structures"]
    ]
    chart = facilities_chart(facility_lines(version), structures)
    assert chart is not None
    assert [part.style for part in chart.bars[0].parts] == ["others", "held", "copy"]
    assert [sum(part.amount for part in bar.parts) for bar in chart.bars] == [
        sum(part.amount for part in bar.parts) for bar in facilities(version).bars
    ]


def test_plan_without_coupling_facilities_has_no_chart() -> None:
    assert facilities_chart((), ()) is None


def test_structures_are_drawn_from_the_largest_with_initsize_size_and_need() -> None:
    lines = structure_lines(saved(bank()))
    chart = structures_chart(lines)
    sizes = [sum(part.amount for part in bar.parts) for bar in chart.bars]
    assert sizes == sorted((line.size_kib for line in lines), reverse=True)
    largest_line = max(lines, key=lambda line: line.size_kib)
    assert chart.bars[0].name == largest_line.cfrm_name
    assert chart.bars[0].parts[0].amount == largest_line.initsize_kib
    assert chart.bars[0].marks[0].at == largest_line.need_bytes / 1024
    assert f"{chart.bars[0].name} {chart.bars[0].text}" in chart.description


def test_only_the_largest_of_many_structures_are_drawn() -> None:
    lines = structure_lines(saved(largest(structures=30, queues=1)))
    assert len(lines) > MOST_STRUCTURES
    assert len(structures_chart(lines).bars) == MOST_STRUCTURES
