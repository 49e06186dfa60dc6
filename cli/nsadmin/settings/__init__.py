"""Owns the priority of settings.

Precedence: command line, `--context`, environment, context in use, default.
"""

from nsadmin.settings.option_resolver import resolve_options

__all__ = ["resolve_options"]
