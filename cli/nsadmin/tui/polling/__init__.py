"""Threads that ask servers, and the records that they return."""
