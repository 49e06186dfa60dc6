"""Monitoring checks, and the formats of their output."""
