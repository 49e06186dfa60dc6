"""The operator's editor, in a process that has the terminal."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

DEFAULT_EDITOR = "vi"


class EditorError(Exception):
    """The editor did not start, or failed. The text says why."""


def find_editor(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The words of the editor in VISUAL or EDITOR, else vi."""
    editor_text = environment.get("VISUAL") or environment.get("EDITOR") or DEFAULT_EDITOR
    try:
        editor_words = shlex.split(editor_text)
    except ValueError as error:
        raise EditorError(f"invalid EDITOR {editor_text!r}: {str(error).lower()}") from None
    if not editor_words:
        raise EditorError("EDITOR is empty: set it to a program, such as vim")
    return editor_words


def run_editor(editor_words: Sequence[str], path: str) -> None:
    """Let the operator edit a file. Raises EditorError."""
    try:
        exit_code = subprocess.run([*editor_words, path], check=False).returncode
    except OSError as error:
        raise EditorError(f'the editor "{editor_words[0]}" did not start: {error.strerror}') from None
    if exit_code:
        raise EditorError(f"the editor failed with exit code {exit_code}: {editor_words[0]}")
