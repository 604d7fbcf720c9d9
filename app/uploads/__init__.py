"""Uploads of users: dumps, tables and displays. They are stored on disk and read by a job, which writes a report."""
