"""Forecasts: all structures in the order in which they run out, and the outlook for one structure."""
