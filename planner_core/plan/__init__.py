"""The evaluation of a whole plan with checks, clusters and placement, and its explanation and comparison.

`planner_core.sizing` sizes single structures and knows none of these.
"""
