"""Sizing over REST: a plan document in; the result, the policy, the job, MQSC, SETXCF or a runbook out."""
