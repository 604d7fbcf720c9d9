"""Tests of the sizing core."""
