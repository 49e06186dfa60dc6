"""Owns the priority of settings.

Precedence: command line, `--context`, environment, context in use, default.
"""

from nsadmin.console.settings.bundle_choice import enter_bundle
from nsadmin.console.settings.option_resolver import resolve_options

__all__ = ["enter_bundle", "resolve_options"]
