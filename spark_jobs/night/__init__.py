"""The night: each day of the history is reduced once in Spark; fits and forecasts are made from the few rows that leaves.

`reduce` makes daily statistics of days, `daily` keeps them beside the history, `collect` turns them into what fits and
forecasts take, `findings` says what a planner should know in the morning, `run` puts all of it together.
"""
