"""SMF records from the REST services of the z/OS Data Gatherer, as uploads for the usage history."""
