"""Texts of z/OS and IBM MQ: written from a plan and read back."""
