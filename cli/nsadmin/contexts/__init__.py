"""Contexts: clusters by name, kept in a file, so that an operator says `--context prod` and not addresses.

Which setting wins is decided in `nsadmin.settings`.
"""

from nsadmin.contexts.context_records import Context, Contexts, ContextTls, InvalidContextsError
from nsadmin.contexts.contexts_file import change_contexts, contexts_path, load_contexts, save_contexts

__all__ = [
    "Context",
    "ContextTls",
    "Contexts",
    "InvalidContextsError",
    "change_contexts",
    "contexts_path",
    "load_contexts",
    "save_contexts",
]
