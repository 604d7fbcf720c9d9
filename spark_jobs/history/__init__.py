"""The usage history: what structures, shared message data sets and queues held and did, interval by interval.

`schema` describes the tables and their columns, `rows` makes rows from decoded records, `store` stores them.
"""
