"""The evaluation of a whole plan with its checks, clusters and places, its explanation and its comparison.

`planner_core.sizing` sizes single structures and knows none of these.
"""
