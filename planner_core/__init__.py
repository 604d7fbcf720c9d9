"""The sizing core: IBM MQ for z/OS coupling facility structures, in pure Python.

It depends on no web framework, database, Spark, clock or environment: the same document
gives the same result, byte for byte, wherever it is evaluated.
"""

CORE_VERSION = "0.1.0"
"""Stored with every result, so that an old figure can be traced to the code that calculated it."""
