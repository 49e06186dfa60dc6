"""Commands about the past: journals, snapshots, routes at a moment, the audit log."""
