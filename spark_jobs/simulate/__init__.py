"""A fictitious sysplex with known truth: statistics in memory, and files as a site would bring them."""
