"""Settings: which one wins.

Each setting by itself: what was given, then a context that was named with --context, then the environment,
then the context in use, then a default.
"""

from nsadmin.settings.option_resolver import resolve_options

__all__ = ["resolve_options"]
