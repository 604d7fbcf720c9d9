"""A fictitious sysplex whose true values are known, and its files as a site would upload them."""
