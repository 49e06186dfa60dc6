"""Cluster plans: the desired cluster as a file, its diff from the current state, and the diff's execution."""
