"""Owns the priority of settings.

For each setting: the command line, then a context named with --context, then the environment, then the
context in use, then a default.
"""

from nsadmin.settings.option_resolver import resolve_options

__all__ = ["resolve_options"]
