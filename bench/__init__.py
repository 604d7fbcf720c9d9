"""Benchmarks: ratios measured in one run on one machine, because seconds alone mean nothing elsewhere."""

from __future__ import annotations

import spark_jobs  # noqa: F401 - before numpy is loaded: its linear algebra is to use one thread, as in the jobs
