"""What-if questions about a plan, over REST and on the command line."""
