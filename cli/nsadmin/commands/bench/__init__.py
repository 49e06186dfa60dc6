"""Commands that measure a cluster with a bounded load."""
