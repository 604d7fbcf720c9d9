"""Stand-ins for the jobs: they speak the protocol of the jobs and follow orders in the file, so that tests need no Arrow or Spark.

It comes before the real package on PYTHONPATH of the processes that tests start.
"""
