"""What users bring: dumps, tables and displays, received on disk, read by a job, reported on."""
