"""A stand-in for the jobs: it speaks their protocol and does as the file says, so that tests need no Arrow and no Spark.

It comes before the real package on PYTHONPATH of the processes that tests start.
"""
