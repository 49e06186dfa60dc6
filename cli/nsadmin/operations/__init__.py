"""Procedures of many calls, for commands to start. They neither print nor parse: who starts one listens."""
