"""Procedures that combine many calls. They neither print nor parse; they return records."""
