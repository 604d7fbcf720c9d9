"""The usage history: the contents and activity of structures, shared message data sets and queues, interval by interval.

`schema` describes the tables and their columns, `rows` makes rows from decoded records, `store` stores them.
"""
