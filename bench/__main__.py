"""`python -m bench`: cost of service, pages, core and commands, speed of dumps, accuracy of sizes, fits and forecasts, nightly runs."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from app.sizing.examples import sq03
from bench import (
    dumps,
    filling,
    large_plan,
    largest,
    load,
    message_sizes,
    pages,
    scale,
    service,
    small_dumps,
    start,
    stored,
)
from bench.aims import (
    AIM_118_DUMPS_S,
    AIM_EVALUATE_S,
    AIM_FILLING_MS,
    AIM_LOAD_S,
    AIM_LONG_NIGHT_S,
    AIM_MB_PER_S,
    AIM_PAGE_KB,
    AIM_PAGE_MS,
    AIM_PASTED_S,
    AIM_RATIO,
    AIM_RATIO_REPEATED,
    AIM_READ_S,
    AIM_REQUEST_S,
    AIM_ROLLED_UP_MB_PER_S,
    AIM_SAVE_LARGEST_S,
    AIM_SHOW_LARGEST_S,
    AIM_SMALL_NIGHT_S,
    AIM_TIMES_DUCKDB,
    AIM_TIMES_DUCKDB_MANY_ROWS,
    AIM_TIMES_SHORT_NIGHT,
    KILO,
    MEGA,
)
from bench.plans import QUEUES, STRUCTURES

LARGE_NIGHT_ROWS = 20_000_000
LEAST_S = 1e-3
SHOWN_ERRORS = 10
PARTS = (
    "service",
    "pages",
    "core",
    "stored",
    "largest",
    "filling",
    "load",
    "start",
    "dumps",
    "scale",
    "sizes",
    "fit",
    "forecast",
    "survival",
    "polling",
    "night",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks and print their tables."""
    options = _options(arguments)
    wanted = options.only or PARTS
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}, {platform.system()}\n"
    )
    if "service" in wanted:
        repeated, varied = service.measure(sq03(), rounds=options.rounds, requests=options.requests)
        _print_service(repeated, "the same structures in every request", aim=AIM_RATIO_REPEATED)
        _print_service(varied, "other application structures in every request", aim=AIM_RATIO)
    if "pages" in wanted:
        _print_pages(pages.measure(rounds=options.rounds))
    if "core" in wanted:
        computed = large_plan.measure(
            structures=options.structures, queues=options.queues, rounds=options.rounds
        )
        _print_core(computed)
    if "stored" in wanted:
        saves = max(options.rounds // 3, 1)
        kept, pasted = stored.measure(structures=options.structures, queues=options.queues, rounds=saves)
        what = f"{options.structures} structures x {options.queues} queues by REST, shown as a page"
        _print_stored(kept, what, aims=(AIM_SAVE_LARGEST_S, AIM_SHOW_LARGEST_S))
        _print_stored(
            pasted,
            f"{options.queues} queues pasted into the editor's form, shown as a page",
            aims=(None, None, AIM_PASTED_S),
        )
    if "largest" in wanted:
        _print_largest(
            largest.measure(
                structures=options.structures, queues=options.queues, wanted=options.largest_request
            ),
            f"{options.structures} structures x {options.queues} queues",
        )
    if "filling" in wanted:
        for with_maxdepth, what in (
            (False, "none with MAXDEPTH"),
            (True, "each full at a moment of its own"),
        ):
            filled = filling.measure(
                queues=options.queues, rounds=options.rounds, with_maxdepth=with_maxdepth
            )
            _print_filling(filled, f"{options.queues} queues, {what}")
    if "load" in wanted:
        _print_load(
            load.measure(
                planners=options.load_planners, scripts=options.load_scripts, seconds=options.load_seconds
            ),
            f"{options.load_planners} planners and {options.load_scripts} scripts",
        )
    if "start" in wanted:
        _print_start(start.measure(rounds=options.rounds))
        _print_small_dumps(small_dumps.measure(options.small_dumps), options.small_dumps)
    if "dumps" in wanted:
        size, measured = dumps.measure(
            round(options.dump_mb * MEGA), spark=not options.no_spark, dump=options.dump
        )
        _print_dumps(size, measured)
        _print_rolled_up(dumps.measure_roll_up(round(options.dump_mb * MEGA)))
    if "scale" in wanted:
        measured_scale = scale.measure(options.scale_rows, folder=options.scale_folder)
        print(
            f"\nA history with one-minute intervals, {measured_scale.days} days, extrapolated in proportion"
        )
        print("\n".join(scale.lines(measured_scale)))
        if options.scale_page:
            scale.write_page(measured_scale, options.scale_page)
    if "sizes" in wanted:
        message_sizes.print_tables(options.sizes_page)
    if "fit" in wanted:
        from bench import fit  # numpy and SciPy take a second to import

        fit.print_fits(options.fits)
    if "survival" in wanted:
        from bench import survival

        survival.print_table(structures=options.survivals, page=options.survival_page)
    if "polling" in wanted:
        from bench import polling

        polling.print_polls(
            hours=options.poll_hours, structures=options.poll_structures, systems=options.poll_systems
        )
    if "forecast" in wanted:
        from bench import forecast  # statsmodels takes seconds to import

        forecast.print_tables(
            structures=options.forecasts,
            unseen=options.forecasts_unseen,
            models=options.forecast_models,
            lengths=options.forecast_lengths,
            page=options.forecast_page,
        )
    if "night" in wanted:
        from bench import night  # DuckDB, Polars and Spark take seconds to import

        reduced, nights = night.measure(
            rows=options.night_rows,
            structures=options.night_structures,
            rounds=options.night_rounds,
            folder=options.night_folder,
            large_rows=LARGE_NIGHT_ROWS if options.night_large else 0,
        )
        aims = night.Aims(
            AIM_SMALL_NIGHT_S,
            AIM_LONG_NIGHT_S,
            AIM_TIMES_SHORT_NIGHT,
            AIM_TIMES_DUCKDB,
            AIM_TIMES_DUCKDB_MANY_ROWS,
        )
        night.print_night(reduced, nights, aims)


def _print_service(served: dict[str, service.Served], what: str, *, aim: float) -> None:
    planner = served["planner"]
    print(f"POST /api/v1/size of plan SQ03, {what},")
    print("against endpoints that validate the same document and return it")
    print(f"{'':<14}{'requests/s':>12}{'CPU us/request':>16}{'answer bytes':>14}{'ratio':>8}")
    for name, found in served.items():
        ratio = planner.requests_per_s / found.requests_per_s
        print(
            f"{name:<14}{found.requests_per_s:>12.0f}{found.cpu_us_per_request:>16.0f}{found.answer_bytes:>14}{ratio:>8.2f}"
        )
    against_def = planner.requests_per_s / served["bare-def"].requests_per_s
    print(f"{'aim for bare-def':<56}{aim:>8.2f}\n{'of aim':<56}{against_def / aim:>8.2f}\n")


def _print_pages(found: dict[str, pages.Served]) -> None:
    print("Pages; CPU milliseconds with compression, against endpoints that return the same bytes")
    print(f"{'':<28}{'first':>8}{'median':>8}{'bare':>8}{'ratio':>8}{'KB':>8}{'KB sent':>9}")
    for name, each in found.items():
        ratio = each.median_ms / each.bare_ms
        print(
            f"{name:<28}{each.first_ms:>8.1f}{each.median_ms:>8.1f}{each.bare_ms:>8.1f}{ratio:>8.2f}"
            f"{each.plain_bytes / KILO:>8.1f}{each.sent_bytes / KILO:>9.1f}"
        )
    calculator = found[pages.CALCULATOR]
    print(f"{'aim for the calculator':<28}{'':>8}{AIM_PAGE_MS:>8.1f}{'':>16}{AIM_PAGE_KB:>8.1f}")
    of_aim_ms, of_aim_kb = calculator.median_ms / AIM_PAGE_MS, calculator.plain_bytes / KILO / AIM_PAGE_KB
    print(f"{'of aim':<28}{'':>8}{of_aim_ms:>8.2f}{'':>16}{of_aim_kb:>8.2f}\n")


def _print_core(found: large_plan.Computed) -> None:
    size = (
        f"{found.structures} structures x {found.queues} queues, {found.document_bytes / 1e6:.1f} MB of JSON"
    )
    print(f"The largest legal plan: {size}; CPU seconds of one core")
    print(f"{'':<40}{'s':>8}{'of validating':>16}{'aim':>8}{'of aim':>8}")
    for name, seconds, aim in (
        ("validate the parsed document", found.validate_s, None),
        ("read it: strict JSON and validation", found.read_s, AIM_READ_S),
        ("evaluate it", found.evaluate_s, AIM_EVALUATE_S),
    ):
        aims = f"{aim:>8.3f}{seconds / aim:>8.2f}" if aim else ""
        print(f"{name:<40}{seconds:>8.3f}{seconds / found.validate_s:>16.2f}{aims}")


def _print_stored(found: dict[str, stored.Stored], what: str, *, aims: tuple[float | None, ...]) -> None:
    """Print the times to save, to show and to do both, and their aims."""
    planner = found["planner"]
    print(f"\nSaved and shown: {what};\nagainst endpoints that validate the same document and keep its text")
    print(f"{'':<14}{'save s':>10}{'show s':>10}{'together':>10}{'CPU s':>10}{'ratio of CPU':>14}")
    for name, each in found.items():
        print(
            f"{name:<14}{each.save_s:>10.3f}{each.show_s:>10.3f}{each.save_s + each.show_s:>10.3f}{each.cpu_s:>10.2f}"
            f"{planner.cpu_s / max(each.cpu_s, 0.01):>14.2f}"
        )
    times = (planner.save_s, planner.show_s, planner.save_s + planner.show_s)
    pairs = list(zip(times, aims, strict=False))
    print(f"{'aim':<14}{''.join(f'{aim:>10.3f}' if aim else ' ' * 10 for _, aim in pairs)}")
    print(
        f"{'ratio to aim':<14}{''.join(f'{each / aim:>10.2f}' if aim else ' ' * 10 for each, aim in pairs)}"
    )


def _print_largest(found: Sequence[largest.Answered], what: str) -> None:
    print(f"\nEvery request about a stored plan of {what}; CPU seconds with compression,")
    print("most expensive first; saving has no aim")
    print(f"{'CPU s':>8}{'of aim':>8}{'KB sent':>10}  request")
    for each in found:
        of_aim = "" if each.is_save else f"{each.cpu_s / AIM_REQUEST_S:.2f}"
        print(f"{each.cpu_s:>8.2f}{of_aim:>8}{each.sent_bytes / KILO:>10.1f}  {each.name}")
    over = sum(each.cpu_s > AIM_REQUEST_S and not each.is_save for each in found)
    print(f"{over} of {len(found)} requests take more than {AIM_REQUEST_S:g} s")


def _print_filling(found: dict[str, filling.Filled], what: str) -> None:
    bare = found[filling.BARE].median_ms
    print(f"\nAn outage of a structure recomputed: {what}; CPU milliseconds,")
    print("against an endpoint that validates the same document and returns it")
    print(f"{'':<26}{'median':>9}{'longest':>9}{'ratio':>8}")
    for asked, each in found.items():
        print(f"{asked:<26}{each.median_ms:>9.1f}{each.longest_ms:>9.1f}{each.median_ms / bare:>8.2f}")
    of_aim = found[filling.PAGE].median_ms / AIM_FILLING_MS
    print(f"{'aim for the page':<26}{AIM_FILLING_MS:>9}\n{'of aim':<26}{of_aim:>9.2f}")


def _print_load(found: load.Load, what: str) -> None:
    print(f"\nOne server used by {what} for {found.seconds:.0f} s; seconds,")
    print("against the same server used by one planner and one script")
    print(
        f"{'':<18}{'answers':>9}{'p50':>8}{'p99':>8}{'p50 alone':>11}{'p99 alone':>11}{'ratio':>8}{'aim p99':>9}{'of aim':>8}"
    )
    for kind, aim in AIM_LOAD_S.items():
        p50, p99 = (found.percentile_s(kind, percent) for percent in (50, 99))
        p50_alone, p99_alone = (found.percentile_s(kind, percent, alone=True) for percent in (50, 99))
        print(
            f"{kind:<18}{found.answers(kind):>9}{p50:>8.3f}{p99:>8.3f}{p50_alone:>11.3f}{p99_alone:>11.3f}{p99 / p99_alone:>8.2f}"
            f"{aim:>9.2f}{p99 / aim:>8.2f}"
        )
    for address, (p50, p99) in load.slowest_pages(found.together).items():
        print(f"  {p50:.3f} {p99:.3f} {address}")
    before, after = found.memory_mb
    print(
        f"CPU of the server {found.cpu_s:.1f} s, memory {before:.0f} to {after:.0f} MB, {len(found.errors)} errors"
    )
    for error in found.errors[:SHOWN_ERRORS]:
        print(f"  {error.address}: {error.error}")


def _print_start(found: dict[str, float]) -> None:
    print(
        "\nCommands, each in its own process; CPU milliseconds, and their ratio to two processes without cfplan"
    )
    print(f"{'':<28}{'ms':>8}{start.NOTHING:>18}{start.ARGPARSE:>30}")
    for name, spent in found.items():
        print(
            f"{name:<28}{spent:>8.1f}{spent / found[start.NOTHING]:>18.2f}{spent / found[start.ARGPARSE]:>30.2f}"
        )
    print(f"{'service, of its libraries':<28}{found[start.SERVICE] / found[start.LIBRARIES]:>8.2f}")


def _print_small_dumps(found: dict[str, small_dumps.Ingested], dumps: int) -> None:
    aim = AIM_118_DUMPS_S * dumps / 118
    print(f"\n{dumps} small dumps, stored in the usage history with their roll-ups")
    print(f"{'':<28}{'s':>8}{'s each':>8}{'CPU s':>8}{'aim s':>8}{'ratio':>8}")
    for name, each in found.items():
        print(
            f"{name:<28}{each.seconds:>8.1f}{each.seconds / dumps:>8.2f}{each.cpu_s:>8.1f}{aim:>8.1f}{each.seconds / aim:>8.2f}"
        )


def _print_dumps(size_bytes: int, measured: Sequence[dumps.Measured]) -> None:
    print(
        f"\nA dump of {size_bytes / MEGA:.0f} MB, read from memory; the stages are without the start of Python"
    )
    print(f"{'':<26}{'s in all':>9}{'MB/s':>7}{'CPU s':>8}{'rows':>10}{'peak MB':>9}  stages: s (MB/s)")
    for found in measured:
        stages = ", ".join(
            f"{stage} {seconds:.2f} ({size_bytes / MEGA / max(seconds, LEAST_S):.0f})"
            for stage, seconds in found.stages.items()
        )
        rate = size_bytes / MEGA / found.seconds
        print(
            f"{found.name:<26}{found.seconds:>9.2f}{rate:>7.0f}{found.cpu_s:>8.2f}{found.rows:>10}{found.peak_mb:>9.0f}  {stages}"
        )
    of_aim = size_bytes / MEGA / measured[0].seconds / AIM_MB_PER_S
    print(f"{'aim for Arrow, one process':<26}{'':>9}{AIM_MB_PER_S:>7}\n{'of aim':<26}{'':>9}{of_aim:>7.2f}")


def _print_rolled_up(found: dumps.RolledUp) -> None:
    size_mb = found.size_bytes / MEGA
    for each in (found.ingest, found.roll_up, found.uploaded, found.command, found.small_command):
        print(f"{each.name:<32}{each.seconds:>8.2f} s{each.cpu_s:>8.2f} CPU s{each.peak_mb:>7.0f} MB")
    ways = {
        "both, in two processes": (found.ingest, found.roll_up),
        "both, by cfplan ingest": (found.command,),
        "both, as an upload": (found.uploaded,),
    }
    for name, jobs in ways.items():
        rate = size_mb / sum(job.seconds for job in jobs)
        by_cpu = size_mb / sum(job.cpu_s for job in jobs)
        print(
            f"{f'{name}, MB/s of {size_mb:.0f} MB':<40}{rate:>8.1f}{by_cpu:>10.1f} by CPU time"
            f"; aim {AIM_ROLLED_UP_MB_PER_S}, ratio {rate / AIM_ROLLED_UP_MB_PER_S:.2f}"
        )
    print()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=9, help="number of measurements; the median is reported"
    )
    parser.add_argument("--requests", type=int, default=400, help="requests in each round")
    parser.add_argument("--structures", type=int, default=STRUCTURES, help="structures of the large plan")
    parser.add_argument("--queues", type=int, default=QUEUES, help="queues on each of them")
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="run only this benchmark; may be repeated"
    )
    parser.add_argument(
        "--largest-request",
        default="",
        help="measure only requests about the largest plan that contain this text",
    )
    parser.add_argument("--load-planners", type=int, default=load.PLANNERS, help="planners of the load run")
    parser.add_argument("--load-scripts", type=int, default=load.SCRIPTS, help="scripts of the load run")
    parser.add_argument(
        "--load-seconds", type=float, default=load.SECONDS, help="duration of the load run in seconds"
    )
    parser.add_argument("--dump-mb", type=float, default=100, help="size of the generated dump in MB")
    parser.add_argument("--small-dumps", type=int, default=20, help="number of small dumps to store")
    parser.add_argument("--dump", type=Path, help="read this dump instead of a generated one")
    parser.add_argument("--no-spark", action="store_true", help="measure dumps without Spark")
    parser.add_argument(
        "--sizes-page",
        type=Path,
        help="write the tables of message sizes into this page: docs/explanation/assumptions/message-size-distributions.md",
    )
    parser.add_argument("--fits", type=int, default=1000, help="coupling facilities to fit in each case")
    parser.add_argument(
        "--forecasts", type=int, default=200, help="structures to forecast in each simulated world"
    )
    parser.add_argument(
        "--forecasts-unseen",
        type=int,
        default=1000,
        help="structures in the worlds that were not used to choose settings",
    )
    parser.add_argument(
        "--forecast-models",
        type=int,
        default=100,
        help="structures to forecast with the alternative models as well",
    )
    parser.add_argument(
        "--forecast-lengths", type=int, default=200, help="structures to forecast for each length of history"
    )
    parser.add_argument("--poll-hours", type=int, default=24, help="simulated hours of one-minute polls")
    parser.add_argument("--poll-structures", type=int, default=200, help="structures in each polled report")
    parser.add_argument("--poll-systems", type=int, default=8, help="systems in each polled report")
    parser.add_argument(
        "--survivals", type=int, default=100, help="structures whose survival of outages is compared"
    )
    parser.add_argument(
        "--survival-page", type=Path, help="write the table into this page: docs/explanation/survival.md"
    )
    parser.add_argument(
        "--forecast-page", type=Path, help="write the tables into this page: docs/explanation/forecasts.md"
    )
    parser.add_argument(
        "--scale-rows", type=int, default=300_000, help="minimum number of rows of the large history"
    )
    parser.add_argument("--scale-folder", type=Path, help="folder for the large history")
    parser.add_argument(
        "--scale-page", type=Path, help="write the table into this page: docs/operations/scale.md"
    )
    parser.add_argument(
        "--night-rows", type=int, default=2_000_000, help="rows of the generated short history"
    )
    parser.add_argument(
        "--night-large",
        action="store_true",
        help=f"also measure the first reduction of {LARGE_NIGHT_ROWS:,} rows, which takes many minutes",
    )
    parser.add_argument(
        "--night-structures", type=int, default=200, help="structures in the generated history"
    )
    parser.add_argument(
        "--night-rounds", type=int, default=3, help="number of reductions and of nightly runs to measure"
    )
    parser.add_argument(
        "--night-folder",
        type=Path,
        help="folder for generated histories, 3 GB for 20 million rows; default: the temporary folder",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
