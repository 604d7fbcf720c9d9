"""A plan as a whole: evaluated with its checks, clusters and places, explained figure by figure, and compared.

Structures are sized on their own in `planner_core.sizing`, which knows none of these.
"""
