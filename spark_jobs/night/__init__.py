"""The nightly run: Spark reduces each day of the history once; fits and forecasts use the daily statistics.

`reduce` makes daily statistics, `daily` stores them next to the history, `collect` converts them to the input of fits
and forecasts, `findings` defines the rules for findings, and `run` combines all of these.
"""
