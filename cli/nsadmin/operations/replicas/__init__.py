"""Compares what slaves have with what their masters have: topics, groups, offsets and settings."""
