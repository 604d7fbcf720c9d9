"""The user documentation, rendered from the files in docs/, and the page of the REST API."""
