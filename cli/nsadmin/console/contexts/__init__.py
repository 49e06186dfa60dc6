"""Owns contexts: named clusters in a file, so that an operator types `--context prod`, not addresses.

`nsadmin.console.settings` decides which setting has priority.
"""

from nsadmin.console.contexts.context_records import Context, Contexts, ContextTls, InvalidContextsError
from nsadmin.console.contexts.contexts_file import (
    change_contexts,
    contexts_path,
    load_contexts,
    save_contexts,
)

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
