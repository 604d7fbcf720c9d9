"""Messages that a 4 GB application structure holds.

Source: "IBM MQ for z/OS on z16 Performance", version 1.0, September 2022, table of the capacity
of a 4 GB application structure for CFCC levels 17 to 25 (ALLOWAUTOALT(NO), no offload), pages 12
to 17, https://github.com/ibm-messaging/mqperf . The report prints rounded figures ("1.9 M"), so
each is met within 3 %.
"""

from __future__ import annotations

import pytest

from tests.golden.support import ask

# Message bytes (everything but the MQMD), messages that fit: as printed.
CAPACITY_OF_4_GB = (
    (1164, 1_900_000),
    (2048, 1_150_000),
    (4096, 650_000),
    (8192, 340_000),
    (16384, 175_000),
    (32768, 90_000),
    (64512, 45_000),
)


@pytest.mark.parametrize("cfcc_level", [17, 21, 24, 25])
@pytest.mark.parametrize(
    ("message_bytes", "printed"),
    CAPACITY_OF_4_GB,
    ids=[f"{size}-bytes" for size, _ in CAPACITY_OF_4_GB],
)
def test_z16_capacity_is_matched_within_3_percent(message_bytes: int, printed: int, cfcc_level: int) -> None:
    answer = ask("structure", "--size-mib", 4096, "--message-bytes", message_bytes, "--cfcc", cfcc_level)

    assert answer["messages"] == pytest.approx(printed, rel=0.03)


@pytest.mark.parametrize("message_bytes", [1, 100, 512, 1024, 1163])
def test_every_message_up_to_1164_bytes_has_the_same_capacity(message_bytes: int) -> None:
    # The row of the report reads "<= 1164 (all)".
    limit = ask("structure", "--size-mib", 4096, "--message-bytes", 1164, "--cfcc", 24)
    small = ask("structure", "--size-mib", 4096, "--message-bytes", message_bytes, "--cfcc", 24)
    larger = ask("structure", "--size-mib", 4096, "--message-bytes", 1165, "--cfcc", 24)

    assert small["messages"] == limit["messages"]
    assert larger["messages"] < limit["messages"]


# The element model behind the rows, worked out by hand: floor((4096 - 14) MiB / (1.43 x 256 x
# elements)), base 14 MiB and k 1.43 for CFCC levels 17 to 24.
EXACT_AT_CFCC_24 = (
    (1164, 1_948_703),
    (2048, 1_169_221),
    (4096, 649_567),
    (8192, 343_888),
    (16384, 177_154),
    (32768, 89_940),
    (64512, 46_032),
)


@pytest.mark.parametrize(
    ("message_bytes", "messages"),
    EXACT_AT_CFCC_24,
    ids=[f"{size}-bytes" for size, _ in EXACT_AT_CFCC_24],
)
def test_derived_capacity_at_cfcc_24_is_exact(message_bytes: int, messages: int) -> None:
    answer = ask("structure", "--size-mib", 4096, "--message-bytes", message_bytes, "--cfcc", 24)

    assert answer["messages"] == messages
