"""What runs today: texts checked, policies merged, plans compared and made, over REST and on the command line."""
