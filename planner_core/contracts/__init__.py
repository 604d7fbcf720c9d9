"""The data that jobs write and the application reads, declared once for both.

The fields of the dataclasses are the members of JSON objects. The jobs and the service may have different versions, and
reports are kept for years, so `tolerant.read` fills in missing members and ignores unknown ones.
"""
