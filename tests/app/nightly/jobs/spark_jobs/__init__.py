"""Stand-ins for the jobs: they speak the protocol of the jobs and follow orders.json in the history.

It comes before the real package on PYTHONPATH of the processes that tests start, so that they need no Arrow and no Spark.
"""
