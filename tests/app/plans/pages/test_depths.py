"""Queue depths on the page of a structure: advice, values of the plan, and the chart of both."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from app.fits.kept import no_curves
from app.plans.depth_pages import advised, depths_of, duration
from app.plans.editor.form import check, typed_of
from app.plans.stored import StoredVersion
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from tests.planner_core.plans import varied


def found(**paths: Any) -> Any:  # noqa: ANN401
    result: Any = evaluate(read_object(varied(**paths))).as_json(depths=True)
    return result["structures"][1]


def queue(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "message_bytes": 2048, "backlog": 1000, "persistent": True, **more}


def stored(document: PlanDocument, result: Any) -> StoredVersion:  # noqa: ANN401
    return StoredVersion(
        plan_id=1,
        name="SQ03",
        number=1,
        latest=1,
        created_at=datetime(2026, 3, 2, tzinfo=UTC),
        comment=None,
        core_version="0",
        document_json=document.model_dump_json(),
        curve_json="{}",
        result_json=json.dumps(result),
    )


def test_version_stored_without_advice_shows_none() -> None:
    structure = found()
    structure.pop("depth_events")
    assert depths_of(structure) is None
    document = read_object(varied())
    assert advised(stored(document, {"structures": [structure]}), structure, no_curves) == {}


def test_depth_advice_is_calculated_from_the_stored_sizes() -> None:
    document = read_object(varied(perfmev="ENABLED", growth={"percent_per_year": 10, "years": 2}))
    result: Any = evaluate(document).as_json()
    structure = result["structures"][1]
    assert "queues" not in structure["depth_events"]
    shown = advised(stored(document, result), structure, no_curves)
    whole: Any = evaluate(document).as_json(depths=True)
    assert shown["depth_events"] == whole["structures"][1]["depth_events"]
    # Another core may have stored another INITSIZE: the advice is for that one.
    structure["initsize_kib"] *= 4
    structure["size_kib"] *= 4
    more = advised(stored(document, result), structure, no_curves)["depth_events"]
    assert more["action_messages"] > 3 * shown["depth_events"]["action_messages"]
    assert more["queues"][0]["maxdepth"] > 3 * shown["depth_events"]["queues"][0]["maxdepth"]


def test_advice_is_shown_without_planned_depths() -> None:
    depths = depths_of(found(structures__0__queues=[queue("A"), queue("B", backlog=0)]))
    assert depths is not None
    assert not depths.is_planned
    assert not depths.facts
    first, second = depths.rows
    assert (first.qdepthhi, first.qdepthlo) == ("80", "20")
    assert (second.maxdepth, second.qdepthhi) == ("", "")
    assert depths.chart is not None
    assert [bar.name for bar in depths.chart.bars] == ["A"]


def test_depths_given_in_the_plan_are_marked_and_their_effects_shown() -> None:
    given = queue("A", maxdepth=2000, qdepthhi=50, put_rate_per_s=3, get_rate_per_s=1)
    depths = depths_of(found(structures__0__queues=[given], perfmev={"QM01": "ENABLED"}))
    assert depths is not None
    (row,) = depths.rows
    assert row.given == (True, True, False)
    assert row.planned[1:] == ("50", "12")
    assert row.effects[-2:] == ("80 %", "80 %")
    facts = dict(depths.facts)
    assert facts["Messages of one event"].startswith("1, one from each")
    assert "Queue Depth High of A after 8 min" in facts["All queues at their net rates, starting empty"]


def test_maxdepth_above_the_structure_does_not_stretch_the_chart() -> None:
    queues = [queue("A", maxdepth=999_999_999, qdepthhi=80), queue("B")]
    depths = depths_of(found(structures__0__queues=queues))
    assert depths is not None
    assert depths.chart is not None
    wide, narrow = depths.chart.bars
    assert wide.name == "A"
    assert "999" in wide.text
    assert wide.text.endswith("beyond the chart")
    last = depths.chart.x_axis.last if depths.chart.x_axis else None
    assert wide.extent == last
    assert not any(mark.style == "mark strong" for mark in wide.marks)
    low, high = (mark.at for mark in narrow.marks if mark.style.startswith("mark"))
    assert 0 < low < high < narrow.extent < wide.extent


def test_many_queues_are_paged_and_only_some_drawn() -> None:
    structure = found(structures__0__queues=[queue(f"Q{n:03}", backlog=1000 + n) for n in range(40)])
    depths = depths_of(structure, first=30, most=30)
    assert depths is not None
    assert [row.name for row in depths.rows] == [f"Q{n:03}" for n in range(30, 40)]
    assert depths.chart is not None
    assert depths.chart.bars[0].name == "Q039"
    assert depths.bars_omitted == 28


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (200_000, "2 d"), (-130, "2 min too late")],
)
def test_durations_have_a_readable_unit(seconds: int, words: str) -> None:
    assert duration(seconds) == words


def test_editor_keeps_every_depth_event_setting_of_a_document() -> None:
    given = queue(
        "A",
        maxdepth=2000,
        qdepthhi=50,
        qdepthlo=0,
        qdphiev="ENABLED",
        qdploev="DISABLED",
        qdpmaxev="DISABLED",
        qsvciev="NONE",
        curdepth=0,
        queue_manager_rates={"QM01": {"put_rate_per_s": 30, "get_rate_per_s": 12.5}},
    )
    rated = queue("B", put_rate_per_s=3, get_rate_per_s=0)
    document = read_object(
        varied(
            structures__0__queues=[given, rated],
            structures__0__event_target_percent=60,
            perfmev={"QM01": "ENABLED", "QM02": "DISABLED"},
        )
    )
    checked = check(typed_of(document))
    assert not checked.errors
    assert checked.document == document
    one_for_all = document.model_copy(update={"perfmev": "ENABLED"})
    assert check(typed_of(one_for_all)).document == one_for_all


def test_depth_event_settings_survive_the_form_if_queues_are_text() -> None:
    many = [
        queue(
            f"Q{n}", maxdepth=100 + n, qdphiev="ENABLED", queue_manager_rates={"QM01": {"put_rate_per_s": n}}
        )
        for n in range(61)
    ]
    document = read_object(varied(structures__0__queues=many))
    typed = typed_of(document)
    assert "/structures/0/queues" in typed
    assert check(typed).document == document


@pytest.mark.parametrize("text", ["QM01:ON", "MAYBE", "QM01:ENABLED QM01:DISABLED", "QM01"])
def test_unreadable_perfmev_is_reported_next_to_its_field(text: str) -> None:
    typed = {**typed_of(read_object(varied())), "/perfmev": text}
    assert "/perfmev" in check(typed).errors


@pytest.mark.parametrize("text", ["QM01", "QM01:3", "QM01:a/b", "QM01:1/2 QM01:1/2"])
def test_unreadable_rates_are_reported_next_to_their_field(text: str) -> None:
    typed = {**typed_of(read_object(varied())), "/structures/0/queues/0/queue_manager_rates": text}
    assert "/structures/0/queues/0/queue_manager_rates" in check(typed).errors
