"""Commands about backups of clusters."""
