"""Owns the choice of the context in force."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.private_files import advise_mode
from nsadmin.console import contexts
from nsadmin.console.contexts import Context, InvalidContextsError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.stderr import write_stderr_line

if TYPE_CHECKING:
    from pathlib import Path


class ChosenContext(NamedTuple):
    """The context in force; empty without a `name`. `is_named` is true if --context named it.

    `config_folder` is the folder of the file of contexts; paths in a context are relative to it.
    """

    name: str | None
    context: Context
    is_named: bool
    config_folder: str | os.PathLike[str]

    def resolve_path(self, path_text: str) -> "Path":
        from pathlib import Path

        return Path(self.config_folder, os.path.expanduser(path_text))


NO_CONTEXT = ChosenContext(None, Context(), False, "")


def choose_context(
    given_name: str | None, write_warning: Callable[[str], None] = write_stderr_line
) -> ChosenContext:
    """Choose the named context, else NSADMIN_CONTEXT, else the one in use; UsageError for an unknown one."""
    contexts_file = contexts.contexts_path()
    try:
        saved_contexts = contexts.load_contexts(contexts_file)
        chosen_name = given_name or os.environ.get("NSADMIN_CONTEXT") or saved_contexts.current_name
        context = Context() if chosen_name is None else saved_contexts.require_context(chosen_name)
    except InvalidContextsError as error:
        raise UsageError(str(error)) from None
    if context.has_secrets and _is_readable_by_others(contexts_file):
        write_warning(f"other users can read the secrets in {contexts_file}: {advise_mode(contexts_file)}")
    return ChosenContext(chosen_name, context, given_name is not None, os.path.dirname(contexts_file))


def _is_readable_by_others(contexts_file: str) -> bool:
    return os.name == "posix" and bool(os.stat(contexts_file).st_mode & 0o077)
