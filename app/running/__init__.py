"""The running system: check texts, merge policies, compare and create plans, over REST and on the command line."""
