"""A fitted curve replaces the published one everywhere, is reported, and can be compared with it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.contracts.fits import CurveFit, Estimate
from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import compare_curves, evaluate
from planner_core.plan.explain import explain_result, plan_answer
from planner_core.provenance import Basis
from planner_core.sizing.fitted import fitted_curve
from planner_core.sizing.structure_size import (
    explain_backlog,
    explain_messages,
    messages_that_fit,
    published_curve,
)
from tests.planner_core.calculator import recalculate
from tests.planner_core.plan.test_explanations import ECHOED, numbers
from tests.planner_core.plans import BASE, documents, varied

TWO_COSTS = CurveFit(
    state="fitted",
    coupling_facility="CF01",
    cfcc_level=25,
    first_day=date(2026, 1, 5),
    last_day=date(2026, 11, 20),
    kind="two_costs",
    base_bytes=Estimate(24117248.5, 23592960.0, 24641536.25),
    entry_bytes=Estimate(612.125, 605.0, 619.5),
    element_bytes=Estimate(271.5, 270.25, 272.75),
    bundle_bytes=Estimate(2241.125, 2236.0, 2246.5),
)
BUNDLE = replace(TWO_COSTS, kind="bundle", entry_bytes=None, element_bytes=None)
"""Data with one ratio."""
OWN_RATIO = replace(BUNDLE, ratio=(10, 73), bundle_bytes=Estimate(2600.0, 2590.0, 2610.0))
"""Data with one ratio other than 1:6."""


@pytest.mark.parametrize("fit", [TWO_COSTS, BUNDLE])
def test_size_is_fitted_base_plus_fitted_bundles(fit: CurveFit) -> None:
    result = evaluate(read_object(varied(curve={"fitted": 17})), curve=fitted_curve(version=17, fit=fit))
    application = result.structures[1]
    # 100 000 messages of 1024 bytes: (1024 + 372) / 256 are six elements, so entries and elements both bind.
    assert application.sizes.need_bytes == 248_229_749  # 24117248.5 + 100 000 x 2241.125
    assert result.curve.origin == "fitted"
    assert result.curve.id == "fitted-17"


def test_other_ratio_uses_both_fitted_costs_without_an_assumption() -> None:
    document = read_object(
        varied(structures__0__entry_to_element_ratio=[1, 10], structures__0__queues__0__message_bytes=2000)
    )
    two_costs = evaluate(document, curve=fitted_curve(version=17, fit=TWO_COSTS))
    # ceil((2000 + 372) / 256) = 10 elements: an entry and ten elements each.
    assert two_costs.structures[1].sizes.need_bytes == -(
        -(Fraction("24117248.5") + 100_000 * (Fraction("612.125") + 10 * Fraction("271.5"))) // 1
    )
    assert "ENTRY_ELEMENT_COST_ASSUMED" not in {item.code for item in two_costs.findings}
    need = {item.figure: item for item in explain_result(two_costs)}["/structures/1/need_bytes"]
    assert need.basis is Basis.DERIVED

    bundle = evaluate(document, curve=fitted_curve(version=17, fit=BUNDLE))
    assert bundle.structures[1].sizes.need_bytes == -(
        -(Fraction("24117248.5") + 100_000 * (Fraction("2241.125") + 4 * 256)) // 1
    )
    (assumed,) = (item for item in bundle.findings if item.code == "ENTRY_ELEMENT_COST_ASSUMED")
    assert (
        "The data of curve 17 covers 1:6 only; for other ratios, an element is assumed to cost 256"
        in assumed.message
    )


def test_bundle_at_another_ratio_alone_is_refused() -> None:
    """Otherwise, structures would be sized at that ratio, or with the least possible cost of an element."""
    with pytest.raises(
        PlanRefused, match=r"at 10:73 only, but structures are allocated at 1:6.*Use 'published'"
    ):
        fitted_curve(version=3, fit=OWN_RATIO)
    both = replace(TWO_COSTS, ratio=(1, 2))
    assert fitted_curve(version=3, fit=both).elements_per_entry == 6
    assert fitted_curve(version=3, fit=both).bundle == fitted_curve(version=3, fit=TWO_COSTS).bundle


def test_csq_admin_and_minimum_sizes_keep_their_published_values() -> None:
    document = read_object(BASE)
    published = evaluate(document)
    fitted = evaluate(document, curve=fitted_curve(version=17, fit=TWO_COSTS))
    assert fitted.structures[0].sizes == published.structures[0].sizes
    assert fitted.structures[2].sizes.minimum_bytes == published.structures[2].sizes.minimum_bytes


def test_finding_on_a_fitted_curve_names_its_origin_and_figures() -> None:
    curve = fitted_curve(version=17, fit=TWO_COSTS)
    findings = evaluate(read_object(varied(curve={"fitted": 17})), curve=curve).findings
    (item,) = (item for item in findings if item.code == "FITTED_CURVE_IN_USE")
    assert item.severity == "info"
    assert item.field == "/curve/fitted"
    for part in (
        "curve 17, fitted to this site's own allocations: CF01, CFCC level 25, from 2026-01-05 to 2026-11-20",
        "Base 23.0 MiB (22.50 to 23.50 MiB)",
        "2241.1 (2236.0 to 2246.5) bytes for an entry with 6 elements",
        "612.1 (605.0 to 619.5) for an entry and 271.5 (270.2 to 272.8) for an element",
        "the 90 % intervals",
    ):
        assert part in item.message
    bundle = evaluate(read_object(BASE), curve=fitted_curve(version=17, fit=BUNDLE)).findings
    (item,) = (item for item in bundle if item.code == "FITTED_CURVE_IN_USE")
    assert item.field == "/curve"
    assert "apart" not in item.message


@pytest.mark.parametrize(("level", "warned"), [(24, True), (25, False), (26, True), (None, False)])
def test_fitted_curve_of_another_level_is_reported(level: int | None, warned: bool) -> None:
    curve = fitted_curve(version=17, fit=replace(TWO_COSTS, cfcc_level=level))
    result = evaluate(read_object(varied(curve={"fitted": 17})), curve=curve)
    found = [item for item in result.findings if item.code == "FITTED_CURVE_OF_OTHER_LEVEL"]
    assert len(found) == warned
    for item in found:
        assert item.severity == "warning"
        assert (
            f"fitted at CFCC level {level}, but the highest level in the PREFLIST of APP1 and CSQSYSAPPL is 25"
            in item.message
        )
    assert result.curve.summary.cfcc_from == level


def smaller_of(fit: CurveFit, **changes: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    document = read_object(varied(curve={"fitted": 17}, **changes))
    found = evaluate(document, curve=fitted_curve(version=17, fit=fit)).findings
    assert {each.severity for each in found if each.code == "FITTED_CURVE_SMALLER"} <= {"warning"}
    return [each.message for each in found if each.code == "FITTED_CURVE_SMALLER"]


def test_sizes_below_those_of_the_published_figures_are_reported() -> None:
    small = replace(
        BUNDLE,
        base_bytes=Estimate(10_000_000.0, 9_000_000.0, 11_000_000.0),
        bundle_bytes=Estimate(2000.0, 1990.0, 2010.0),
    )
    # 100 000 messages of 1024 bytes at 80 %: 125 000 bundles. 10 000 000 + 125 000 x 2000 bytes are 247.9 MiB; with
    # published figures, 22 MiB and 125 000 x 1.43 x 1536 bytes are 283.9 MiB.
    (message,) = smaller_of(small)
    assert message.startswith(
        "On curve 17, INITSIZE of APP1 is smaller than with the published figures. "
        "APP1 has 248.0 MiB instead of 284.0 MiB for CFCC level 25."
    )
    assert smaller_of(small, headroom_percent=10)
    assert smaller_of(small, separate_costs="derived") == [message]
    # A size of the plan is the planner's own, and so is a SIZE that caps INITSIZE on both curves.
    assert not smaller_of(small, structures__0__initsize="248M")
    assert not smaller_of(small, structures__0__size="200M")


@pytest.mark.parametrize(("bytes_less", "reported"), [(0, False), (2**20, False), (3 * 2**20, True)])
def test_only_a_difference_beyond_rounding_is_reported(bytes_less: int, reported: bool) -> None:
    base = float(22 * 2**20 - bytes_less)
    same = replace(
        BUNDLE,
        base_bytes=Estimate(base, base, base),
        bundle_bytes=Estimate(1.43 * 1536, 1.43 * 1536, 1.43 * 1536),
    )
    assert bool(smaller_of(same)) is reported


def test_fitted_curve_has_no_findings_on_published_figures() -> None:
    curve = fitted_curve(version=17, fit=replace(TWO_COSTS, cfcc_level=26))
    for changes, code in (
        ({"cfcc_level": 26}, "CFCC_LEVEL_ABOVE_FIGURES"),
        ({"coupling_facilities__0__cfcc_level": 26}, "CFCC_LEVEL_ABOVE_FIGURES"),
        ({"cfcc_level": 16}, "CFCC_LEVEL_WITHOUT_FIGURES"),
        ({"cfcc_level": 21}, "CURVE_BASE_ASSUMED"),
    ):
        document = read_object(varied(**changes))
        assert code in {item.code for item in evaluate(document).findings}
        # CSQ_ADMIN keeps its published size, and what is to be said about that.
        assert code not in {
            item.code for item in evaluate(document, curve=curve).findings if "CSQ_ADMIN" not in item.message
        }


def test_curve_from_simulated_data_is_marked_in_every_source() -> None:
    curve = fitted_curve(version=17, fit=TWO_COSTS, is_simulated=True)
    result = evaluate(read_object(BASE), curve=curve)
    (item,) = (item for item in result.findings if item.code == "FITTED_CURVE_IN_USE")
    assert "fitted to simulated data, not to a site" in item.message
    shown: Any = plan_answer(result, explain=True).as_json()
    assert shown["curve"]["fitted"]["is_simulated"] is True
    assert shown["explanations"]["/curve/base_bytes"]["source"].startswith(
        "fitted to simulated data, version 17"
    )


@pytest.mark.parametrize("state", ["rejected", "too_little"])
def test_fit_without_an_accepted_curve_is_refused_with_its_reason(state: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        fitted_curve(
            version=9, fit=replace(TWO_COSTS, state=state, reason="An element would cost 201.3 bytes.")
        )
    (item,) = refused.value.findings
    assert item.code == "CURVE_NOT_ACCEPTED"
    assert item.severity == "error"
    assert item.field == "/curve/fitted"
    assert "fit 9, which was not accepted: an element would cost 201.3 bytes." in item.message


def check_explanations(document: dict[str, Any], fit: CurveFit) -> int:
    result = plan_answer(
        evaluate(read_object(document), curve=fitted_curve(version=17, fit=fit)), explain=True
    ).as_json()
    explanations: Any = result.pop("explanations")
    compared = 0
    for at, figure in numbers(result):
        if ECHOED.fullmatch(at) or at.startswith("/curve/fitted/"):
            continue
        again = recalculate(explanations[at])
        assert again == Fraction(str(explanations[at]["value"])), at
        assert abs(again - Fraction(str(figure))) < Fraction(1, 10**6), at
        compared += 1
    names = {given_input["name"] for item in explanations.values() for given_input in item["inputs"]}
    assert not names & {"base_mib", "factor"}, "nothing published is left in the formulas"
    return compared


@settings(max_examples=60, deadline=None)
@given(documents())
def test_figures_under_a_fitted_curve_equal_their_explanations(
    document: dict[str, Any],
) -> None:
    for fit in (TWO_COSTS, BUNDLE):
        assert check_explanations(document, fit) > 10


@pytest.mark.parametrize("fit", [TWO_COSTS, BUNDLE])
def test_explanations_name_the_fit_as_source(fit: CurveFit) -> None:
    queues = [{"name": "A", "message_bytes": 20000, "backlog": 5000}]
    document = varied(
        structures__0__queues=queues,
        structures__0__size_with_offload=True,
        structures__0__entry_to_element_ratio=[2, 21],
    )
    check_explanations(document, fit)
    result = evaluate(read_object(document), curve=fitted_curve(version=17, fit=fit))
    said = "fitted to this site, version 17, CF01, CFCC level 25, from 2026-01-05 to 2026-11-20"
    by_figure = {item.figure: item.as_json() for item in explain_result(result)}
    assert by_figure["/curve/base_bytes"]["source"] == said
    assert by_figure["/curve/bundle_bytes"]["source"] == said
    inputs: Any = by_figure["/structures/1/need_bytes"]["inputs"]
    assert {i["source"] for i in inputs if re.match("fitted_", i["name"])} == {said}


@pytest.mark.parametrize("fit", [TWO_COSTS, BUNDLE])
@pytest.mark.parametrize("message_bytes", [0, 1024, 1165, 64512, 64513])
def test_answers_on_single_structures_are_explained_under_a_fitted_curve(
    fit: CurveFit, message_bytes: int
) -> None:
    curve = fitted_curve(version=17, fit=fit)
    for item in explain_backlog(messages=12345, message_bytes=message_bytes, curve=curve):
        assert recalculate(item.as_json()) == Fraction(str(item.as_json()["value"])), item.figure
    explained = explain_messages("/messages", size_bytes=2**30, message_bytes=message_bytes, curve=curve)
    assert recalculate(explained.as_json()) == messages_that_fit(
        2**30, message_bytes=message_bytes, curve=curve
    )


@settings(max_examples=60, deadline=None)
@given(documents())
def test_fit_with_published_figures_gives_published_sizes(document: dict[str, Any]) -> None:
    plan = read_object(document)
    published = published_curve(cfcc_level=plan.cfcc_level).curve
    base, bundle = (Estimate(*[float(figure)] * 3) for figure in (published.base, published.bundle))
    same = replace(BUNDLE, base_bytes=base, bundle_bytes=bundle, cfcc_level=plan.cfcc_level)
    curve = fitted_curve(version=1, fit=same)
    compared = compare_curves(plan, curve)
    for item in compared.structures:
        assert item.published == item.fitted


def explained_comparison(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the numbers of the published side, and the explanations of the comparison, by pointer."""
    plan, curve = read_object(document), fitted_curve(version=17, fit=TWO_COSTS)
    result = evaluate(plan, curve=curve)
    compared = replace(result, comparison=compare_curves(plan, curve, result=result))
    found: Any = plan_answer(compared, explain=True).as_json()
    explanations = {at: item for at, item in found["explanations"].items() if at.startswith("/comparison/")}
    side = re.compile(
        r"/comparison/(published|structures/\d+/published)/(base|bundle|need|header|init|size|incr)\w+"
    )
    return {at: figure for at, figure in numbers(found) if side.fullmatch(at)}, explanations


@settings(max_examples=30, deadline=None)
@given(documents())
def test_published_figures_of_a_comparison_equal_their_explanations(
    document: dict[str, Any],
) -> None:
    figures, explanations = explained_comparison(document)
    assert figures.keys() == explanations.keys()
    for at, figure in figures.items():
        again = recalculate(explanations[at])
        assert again == Fraction(str(explanations[at]["value"])), at
        assert abs(again - Fraction(str(figure))) < Fraction(1, 10**6), at
        assert "fitted" not in str(explanations[at]), at


def test_comparison_explanations_do_not_grow_with_the_number_of_queues() -> None:
    def length(queues: int) -> int:
        given = [{"name": f"Q{n}", "message_bytes": 2000, "backlog": 5000} for n in range(queues)]
        _, explanations = explained_comparison(varied(structures__0__queues=given))
        return len(json.dumps(explanations))

    assert length(500) < length(1) + 500


def test_comparison_has_both_sizes_and_their_difference() -> None:
    document = read_object(varied(curve={"fitted": 17}, structures__0__initsize="300M"))
    compared = compare_curves(document, fitted_curve(version=17, fit=TWO_COSTS))
    admin, application, system = compared.structures
    assert [item.name for item in compared.structures] == ["CSQ_ADMIN", "APP1", "CSQSYSAPPL"]
    assert admin.difference.size_bytes == 0
    published = evaluate(read_object(varied(structures__0__initsize="300M"))).structures[1].sizes
    assert application.published.need_bytes == published.need_bytes
    assert application.fitted.need_bytes == 248_229_749  # 24117248.5 + 100 000 x 2241.125
    assert application.difference.need_bytes == application.fitted.need_bytes - published.need_bytes
    assert application.difference.initsize_bytes == 0, "INITSIZE was given"
    shown: Any = compared.as_json()
    assert shown["published"]["origin"] == "published"
    assert shown["fitted"]["origin"] == "fitted"
    assert shown["structures"][1]["published"]["initsize_kib"] == 300 * 1024
    for key in ("need_bytes", "initsize_bytes", "size_bytes"):
        total = sum(item["difference"][key] for item in shown["structures"])
        assert shown["totals"]["difference"][key] == total
    assert system.role == "system"
    assert application.fitted.size_kib % 1024 == 0
