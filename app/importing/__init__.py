"""Tables that sites already have: structures in the form of CFSizer, and queues, as CSV files or spreadsheets."""
