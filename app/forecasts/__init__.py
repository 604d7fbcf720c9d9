"""Forecasts: which structure runs out first, and the outlook of one structure."""
