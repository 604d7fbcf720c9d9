"""Reads all layouts when it is imported: a process of which jobs are copies does it once for all of them."""

from __future__ import annotations

from importlib.resources import files

from spark_jobs.smf.layouts import layout

LAYOUTS = tuple(
    layout(each.name.removesuffix(".toml"))
    for each in files(__package__).iterdir()
    if each.name.endswith(".toml")
)
