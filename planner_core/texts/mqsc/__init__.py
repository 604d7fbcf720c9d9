"""MQSC definitions of the plan's structures and queues."""
