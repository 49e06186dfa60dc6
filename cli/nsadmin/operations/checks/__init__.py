"""Checks: what monitoring asks; a file for each, which gathers facts and judges them. Judging is pure."""
