"""Required size of CSQ_ADMIN on current coupling facilities.

Source: "IBM MQ for z/OS on z16 Performance", version 1.0, September 2022, chart on page 13, read
off in MiB (residual at most 0.14 MB), https://github.com/ibm-messaging/mqperf
"""

from __future__ import annotations

import pytest

from tests.golden.support import ask

# MiB for 1, 2, ... 32 queue managers, eight to a line.
CHART_CFCC_21_TO_24 = (
    *(14, 15, 16, 17, 17, 18, 19, 20),
    *(21, 22, 23, 23, 24, 26, 27, 28),
    *(28, 29, 30, 31, 32, 32, 33, 34),
    *(35, 36, 37, 38, 38, 40, 41, 42),
)
CHART_CFCC_25 = (
    *(22, 23, 24, 24, 25, 26, 27, 28),
    *(29, 31, 31, 32, 33, 34, 35, 35),
    *(36, 37, 38, 39, 40, 40, 41, 42),
    *(43, 44, 46, 47, 47, 48, 49, 50),
)

POINTS = [
    pytest.param(level, count, mib, id=f"cfcc-{level}-{count}-qmgrs")
    for levels, chart in (((21, 24), CHART_CFCC_21_TO_24), ((25,), CHART_CFCC_25))
    for level in levels
    for count, mib in enumerate(chart, start=1)
]


def test_both_expected_charts_have_32_points() -> None:
    assert len(CHART_CFCC_21_TO_24) == len(CHART_CFCC_25) == 32


@pytest.mark.parametrize(("cfcc_level", "queue_managers", "mib"), POINTS)
def test_admin_chart_point_is_returned_as_read_from_the_chart(
    cfcc_level: int, queue_managers: int, mib: int
) -> None:
    answer = ask("admin", "--queue-managers", queue_managers, "--cfcc", cfcc_level)

    assert answer["size_kib"] == mib * 1024
    assert answer["entries_required"] == 1000 * queue_managers
