"""Uploads of users: dumps, tables and displays, stored on disk, read by a job, and reported on."""
