"""Orphaned topics: found by observing the cluster twice, and deleted where no data is lost."""
