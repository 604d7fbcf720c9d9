"""The usage history: what structures, shared message data sets and queues held and did, interval by interval.

`schema` says what the tables and their columns are, `rows` makes rows of decoded records, `store` keeps them.
"""
