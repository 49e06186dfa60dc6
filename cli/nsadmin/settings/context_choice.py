"""The context in force, and how it came to be that."""

import os
from typing import TYPE_CHECKING, NamedTuple

from nsadmin import contexts
from nsadmin.contexts import Context, InvalidContextsError
from nsadmin.exit_codes import UsageError
from nsadmin.stderr import write_stderr_line

if TYPE_CHECKING:
    from pathlib import Path


class ChosenContext(NamedTuple):
    """A context; without a `name` it is empty. `by_name` if --context named it, else it only is in use.

    `folder` is where the file of contexts is, to which its paths are relative.
    """

    name: str | None
    context: Context
    is_named: bool
    config_folder: str | os.PathLike[str]

    def resolve_path(self, path_text: str) -> "Path":
        """A path as the context has it."""
        from pathlib import Path

        return Path(self.config_folder, os.path.expanduser(path_text))


NO_CONTEXT = ChosenContext(None, Context(), False, "")


def choose_context(given_name: str | None) -> ChosenContext:
    """The one named, else NSADMIN_CONTEXT's, else the one in use; UsageError for an unknown one."""
    contexts_file = contexts.contexts_path()
    try:
        saved_contexts = contexts.load_contexts(contexts_file)
        chosen_name = given_name or os.environ.get("NSADMIN_CONTEXT") or saved_contexts.current_name
        context = Context() if chosen_name is None else saved_contexts.require_context(chosen_name)
    except InvalidContextsError as error:
        raise UsageError(str(error)) from None
    if context.has_secrets and _is_readable_by_others(contexts_file):
        write_stderr_line(f"others may read the secrets in {contexts_file}: chmod 600 {contexts_file}")
    return ChosenContext(chosen_name, context, given_name is not None, os.path.dirname(contexts_file))


def _is_readable_by_others(contexts_file: str) -> bool:
    return os.name == "posix" and bool(os.stat(contexts_file).st_mode & 0o077)
