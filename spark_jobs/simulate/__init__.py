"""A fictitious sysplex with known truth, and its files as a site would upload them."""
