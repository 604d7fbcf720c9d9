"""The service: command line, REST and pages around the sizing core.

Nothing is imported here, so that the command line starts without loading the web.
"""
