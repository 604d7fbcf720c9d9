"""The aims of the benchmarks, and the units of their figures."""

from __future__ import annotations

from bench import load

AIM_RATIO, AIM_RATIO_REPEATED = 0.6, 0.8
AIM_READ_S, AIM_EVALUATE_S = 0.4, 0.5
AIM_SAVE_LARGEST_S, AIM_SHOW_LARGEST_S = 2.0, 0.2
AIM_PASTED_S = 1.0
AIM_REQUEST_S = 2.0
AIM_FILLING_MS = 100
AIM_MB_PER_S = 300
AIM_LOAD_S = {load.PAGE: 1.0, load.SIZING: 0.25}
AIM_ROLLED_UP_MB_PER_S = 100
AIM_118_DUMPS_S = 20
AIM_IMPORT_OF_EARLIER = 0.88
"""The import of the service, compared with the earlier version of `bench.versions`."""
MEGA, KILO = 1e6, 1e3
AIM_PAGE_MS, AIM_PAGE_KB = 15, 40
AIM_SMALL_NIGHT_S, AIM_LONG_NIGHT_S, AIM_TIMES_SHORT_NIGHT = 15.0, 25.0, 1.2
AIM_TIMES_DUCKDB, AIM_TIMES_DUCKDB_MANY_ROWS = 4.0, 2.0
