"""Application structure sizes at CFCC level 25.

Source: "IBM MQ for z/OS on z16 Performance", version 1.0, September 2022, chart on page 14 (log
and log), read off within 2 %, https://github.com/ibm-messaging/mqperf . A value read off as a
whole number of MB carries half a unit of its last digit on top.
"""

from __future__ import annotations

import pytest

from tests.golden.support import ask

# Number of messages, message bytes, MB read off the chart. The first curve is drawn for every
# message up to 1024 bytes.
CHART = (
    (100, 1024, 22),
    (1_000, 1024, 24),
    (10_000, 1024, 43),
    (100_000, 1024, 227),
    (1_000_000, 1024, 2_082),
    (10_000_000, 1024, 20_734),
    (100_000, 2048, 370),
    (1_000_000, 2048, 3_479),
    (10_000_000, 2048, 34_717),
    (1_000, 16384, 46),
    (10_000, 16384, 253),
    (100_000, 16384, 2_373),
    (1_000_000, 16384, 22_918),
    (10_000_000, 16384, 229_115),
)


@pytest.mark.parametrize(
    ("messages", "message_bytes", "mb"),
    CHART,
    ids=[f"{messages}-messages-of-{size}-bytes" for messages, size, _ in CHART],
)
def test_application_chart_point_is_matched_within_reading_accuracy(
    messages: int, message_bytes: int, mb: int
) -> None:
    answer = ask("structure", "--messages", messages, "--message-bytes", message_bytes, "--cfcc", 25)

    assert answer["size_mib"] == pytest.approx(mb, abs=0.02 * mb + 0.5)


@pytest.mark.parametrize("message_bytes", [1, 200, 1023])
def test_messages_up_to_1024_bytes_need_the_same_size(message_bytes: int) -> None:
    drawn = ask("structure", "--messages", 100_000, "--message-bytes", 1024, "--cfcc", 25)
    small = ask("structure", "--messages", 100_000, "--message-bytes", message_bytes, "--cfcc", 25)

    assert small["size_mib"] == drawn["size_mib"]


@pytest.mark.parametrize(("messages", "message_bytes"), [(100, 1024), (200_000, 1024), (5000, 16384)])
def test_cfcc_25_needs_8_mb_more_than_cfcc_24_for_the_same_messages(
    messages: int, message_bytes: int
) -> None:
    # The same report, page 12: "+8 MB" for each application structure at CFCC level 25.
    at_24 = ask("structure", "--messages", messages, "--message-bytes", message_bytes, "--cfcc", 24)
    at_25 = ask("structure", "--messages", messages, "--message-bytes", message_bytes, "--cfcc", 25)

    assert at_25["size_mib"] - at_24["size_mib"] == pytest.approx(8)
