"""Commands that copy a cluster's contents to another cluster."""
