"""Contexts: clusters by name, kept in a file, so that an operator says `--context prod` and not addresses.

Which setting wins is decided in `nsadmin.settings`.
"""

from nsadmin.contexts.file import change, load, path, save
from nsadmin.contexts.records import BadConfig, Context, Contexts, ContextTls

__all__ = [
    "BadConfig",
    "Context",
    "ContextTls",
    "Contexts",
    "change",
    "load",
    "path",
    "save",
]
