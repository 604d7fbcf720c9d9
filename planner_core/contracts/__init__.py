"""What the jobs write and the application reads, declared once for both.

The dataclasses are the members of JSON objects. The jobs and the service may be of different versions, and reports are
kept for years, so `tolerant.read` fills in what is missing and ignores what it does not know.
"""
