"""The Python library for scripts: AdminClient with its procedures, checks, plans and backups.

`nsadmin` exports it. The commands use the same procedures.
"""
