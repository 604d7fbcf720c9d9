"""Sizing over REST: the result, policy, job, MQSC, SETXCF commands or runbook of a plan document."""
