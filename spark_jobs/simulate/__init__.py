"""A fictitious sysplex with known true values, and its files in the form in which a site would upload them."""
