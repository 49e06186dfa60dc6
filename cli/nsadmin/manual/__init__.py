"""Renders man pages, pages of the reference, type stubs, schemas, and the exporter's alerts and dashboard."""
