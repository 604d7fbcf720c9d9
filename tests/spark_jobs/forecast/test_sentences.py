"""The exact wording of forecasts."""

from __future__ import annotations

import pytest

from planner_core.contracts.forecasts import Crossing, QuantileDays
from spark_jobs.forecast import sentences


def crossing(state: str, sentence: str, *, p50: int | None = None, value: float | None = 1.0) -> Crossing:
    return Crossing(level="x", value=value, state=state, sentence=sentence, days=QuantileDays(p50=p50))  # type: ignore[arg-type]


def test_crossings_are_described_in_plain_sentences() -> None:
    assert sentences.within("85 %", low=31, middle=43, high=70, horizon_days=180) == (
        "85 % in 43 days, 80 % interval 31–70"  # noqa: RUF001
    )
    assert sentences.within("85 %", low=95, middle=160, high=None, horizon_days=180) == (
        "85 % in 160 days, 80 % interval 95 to beyond 180"
    )
    assert sentences.possible("85 %", horizon_days=180, probability=0.22, low=120) == (
        "unlikely to reach 85 % within 180 days: 22 % probability, 10 % by day 120"
    )
    assert sentences.beyond("SIZE", horizon_days=180) == "not expected to reach SIZE within 180 days"
    assert sentences.within("85 %", low=1, middle=1, high=2, horizon_days=9).startswith("85 % in 1 day,")


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0, "less than 1 %"),
        (0.004, "less than 1 %"),
        (0.5, "50 %"),
        (0.994, "99 %"),
        (1.0, "more than 99 %"),
    ],
)
def test_probabilities_are_never_0_or_100_percent(share: float, told: str) -> None:
    assert sentences.percent(share) == told


def test_figures_include_their_unit() -> None:
    assert sentences.number(1234567.0, "entries") == "1 234 567 entries"
    assert sentences.number(12.0, "blocks") == "12 blocks"
    assert sentences.number(84.26, "percent") == "84.3 %"


def test_percentages_have_a_sign_unless_they_are_zero() -> None:
    assert [sentences.signed(each) for each in (8.14, -1.9, -0.04, 0.0)] == [
        "+8.1",
        "\N{MINUS SIGN}1.9",
        "0.0",
        "0.0",
    ]


def test_forecast_sentence_begins_with_the_first_level_passed() -> None:
    growth = (0.01, 0.02, 0.031)
    late, soon = crossing("within", "late", p50=90), crossing("within", "soon", p50=9)
    grows = "+2.0 % in 30 days (80 % interval +1.0 to +3.1)"
    told = sentences.forecast([late, soon], growth=growth, horizon_days=180)
    assert told == f"soon. {grows}."
    passed = [crossing("already_crossed", "70"), crossing("already_crossed", "85"), soon]
    assert sentences.forecast(passed, growth=growth, horizon_days=180) == f"85. {grows}."
    never = [crossing("beyond", "70 not"), crossing("beyond", "85 not")]
    assert sentences.forecast(never, growth=growth, horizon_days=180) == f"70 not. {grows}."


def test_sentences_on_the_page_match_the_code(request: pytest.FixtureRequest) -> None:
    page = (request.config.rootpath / "docs" / "explanation" / "forecasts.md").read_text("utf-8")
    for sentence in (
        sentences.within("85 %", low=31, middle=43, high=70, horizon_days=180),
        sentences.within("85 %", low=95, middle=160, high=None, horizon_days=180),
        sentences.possible("85 %", horizon_days=180, probability=0.22, low=120),
        sentences.beyond("85 %", horizon_days=180),
        sentences.no_limit("SIZE"),
    ):
        assert f"| {sentence} |" in page
    assert "| 85 % already passed, last on 2026-11-19 |" in page
