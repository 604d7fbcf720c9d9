"""Benchmarks: ratios measured in one run on one machine, because seconds alone mean nothing elsewhere."""

from __future__ import annotations

import spark_jobs  # noqa: F401 - must come before numpy, whose linear algebra then uses one thread, as in the jobs
