"""From any rows, a fit has a state, a reason if there is no curve, and only finite figures."""

from __future__ import annotations

import datetime as dt
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.contracts.files import plain
from spark_jobs.fit import AllocationPoint, QueueDay, StructureDay, fit_all, fit_curve, fit_mix
from tests.spark_jobs.fit.allocations import FIRST, MADE

_counts = st.one_of(st.integers(0, 20), st.integers(0, 10**6), st.integers(0, 10**15))
_points = st.builds(
    AllocationPoint,
    qsg=st.sampled_from([None, "SQ03"]),
    structure=st.sampled_from(["A", "B", "C", "D", "E", "CSQ_ADMIN"]),
    xcf_structure=st.none(),
    coupling_facility=st.sampled_from([None, "CF01", "CF02"]),
    cfcc_level=st.sampled_from([None, 24, 25]),
    day=st.integers(0, 6).map(lambda day: FIRST + dt.timedelta(days=day)),
    allocated_at=st.sampled_from([None, MADE, MADE + dt.timedelta(days=31)]),
    size_bytes=_counts,
    entries_total=_counts,
    elements_total=_counts,
    observations=st.integers(0, 200),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_points, max_size=40))
def test_fit_accepts_any_allocation_rows(points: list[AllocationPoint]) -> None:
    for fit in (fit_curve(points), *fit_all(points)):
        json.dumps(plain(fit), allow_nan=False)
        assert (fit.reason is None) == (fit.state == "fitted")
        assert (fit.base_bytes is None) == (fit.state == "too_little")
        if fit.base_bytes is not None:
            assert fit.base_bytes.low <= fit.base_bytes.value <= fit.base_bytes.high


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 15), _counts, _counts), max_size=30),
    st.lists(st.tuples(st.integers(0, 15), _counts, _counts), max_size=30),
)
def test_mix_accepts_any_usage_rows(
    put: list[tuple[str, int, int, int]], held: list[tuple[int, int, int]]
) -> None:
    queues = [QueueDay("SQ03", "A", q, FIRST + dt.timedelta(days=d), n, size) for q, d, n, size in put]
    days = [StructureDay("SQ03", "A", FIRST + dt.timedelta(days=d), e, el) for d, e, el in held]
    for mix in fit_mix(queues, days):
        json.dumps(plain(mix), allow_nan=False)
        assert mix.header_note
