"""Uploads as people see them: the list, the form, one upload with its progress and report, the map of groups."""
