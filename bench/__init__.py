"""Benchmarks: ratios measured in one run on one machine, because seconds alone mean nothing elsewhere."""
