"""A stand-in for the jobs: it speaks their protocol and does as orders.json in the history says.

It comes before the real package on PYTHONPATH of the processes that tests start, so that they need no Arrow and no Spark.
"""
