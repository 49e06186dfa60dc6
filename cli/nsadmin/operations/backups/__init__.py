"""Backups of clusters: topics, groups, offsets, users, ACLs and settings in one file."""
