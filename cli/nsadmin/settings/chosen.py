"""The context in force, and how it came to be that."""

import os
from typing import TYPE_CHECKING, NamedTuple

from nsadmin import contexts
from nsadmin.contexts import BadConfig, Context
from nsadmin.diagnostics import UsageError, say

if TYPE_CHECKING:
    from pathlib import Path


class Chosen(NamedTuple):
    """A context; without a `name` it is empty. `by_name` if --context named it, else it only is in use.

    `folder` is where the file of contexts is, to which its paths are relative.
    """

    name: str | None
    context: Context
    by_name: bool
    folder: str | os.PathLike[str]

    def path(self, text: str) -> "Path":
        """A path as the context has it."""
        from pathlib import Path

        return Path(self.folder, os.path.expanduser(text))


NONE = Chosen(None, Context(), False, "")


def choose(name: str | None) -> Chosen:
    """The one named, else NSADMIN_CONTEXT's, else the one in use; UsageError for an unknown one."""
    file = contexts.path()
    try:
        found = contexts.load(file)
        chosen = name or os.environ.get("NSADMIN_CONTEXT") or found.current
        context = Context() if chosen is None else found.named(chosen)
    except BadConfig as error:
        raise UsageError(str(error)) from None
    if context.has_secrets and _is_public(file):
        say(f"others may read the secrets in {file}: chmod 600 {file}")
    return Chosen(chosen, context, name is not None, os.path.dirname(file))


def _is_public(file: str) -> bool:
    return os.name == "posix" and bool(os.stat(file).st_mode & 0o077)
