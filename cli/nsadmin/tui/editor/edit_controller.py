"""The controller of `e`: reads an object, opens it in the editor, and previews the changes."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from textual.app import SuspendNotSupported

from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.editor import edit_documents
from nsadmin.tui.editor.edit_documents import EditDocument, EditTarget, InvalidEditError
from nsadmin.tui.screens.command_process import CommandProcess
from nsadmin.tui.screens.confirmation import add_options


class EditorError(Exception):
    """The editor did not start, or failed. The text says why."""


class EditController:
    """Controls the editor of one app. Nothing is sent before a preview and a confirmation."""

    def __init__(self, app: BaseTui) -> None:
        self._app = app

    def edit_row(self) -> None:
        app, subject = self._app, self._app.row_actions.find_current_subject()
        if app.cluster_context.read_only:
            app.show_message("edit: disabled, because the context is read-only", "bad")
        elif edit_documents.needs_cluster(subject):
            app.ask_fields(
                "Edit",
                [("cluster", "")],
                lambda texts: self._read_target(
                    edit_documents.find_edit_target(subject._replace(cluster=texts["cluster"]))
                ),
            )
        else:
            self._read_target(edit_documents.find_edit_target(subject))

    def _read_target(self, target: EditTarget | None) -> None:
        if target is None:
            self._app.show_message("this row has nothing to edit", "warn")
            return
        self._app.show_message(f"reading {target.title}")
        self._app.run_worker(lambda: self._read_in_thread(target), thread=True, exclusive=True, group="edit")

    def _read_in_thread(self, target: EditTarget) -> None:
        app = self._app
        words = target.read_words
        if words[0] != "export":
            words = add_options(words, "--output", "json")
        process = CommandProcess(words, app.cluster_context.words, merges_errors=False)
        output = "\n".join(process.read_lines())
        try:
            if process.exit_code:
                raise InvalidEditError(f"cannot read: `nsadmin {' '.join(target.read_words)}` failed")
            document = target.build_document(output)
        except InvalidEditError as error:
            app.call_from_thread(app.show_message, f"{target.title}: {error}", "bad")
            return
        app.call_from_thread(self._open_editor, target, document)

    def _open_editor(self, target: EditTarget, document: EditDocument) -> None:
        """Suspend the screen while the editor has the terminal."""
        app = self._app
        folder = tempfile.mkdtemp(prefix="nsadmin-edit-")
        path = os.path.join(folder, re.sub(r"[^\w.-]", "_", target.file_name)[-80:])
        keeps_file = False
        try:
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(document.text)
            self._run_editor(path)
            with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                new_text = file.read()
            keeps_file = self._preview_changes(target, document, new_text, path)
        except (EditorError, OSError, SuspendNotSupported) as error:
            reason = getattr(error, "strerror", None) or error
            if isinstance(error, SuspendNotSupported):
                reason = "this terminal cannot be suspended"
            app.show_message(f"nothing was changed: {reason}", "bad")
        except InvalidEditError as error:
            keeps_file = True
            app.show_message(f"nothing was changed: {error}; your text is in {path}", "bad")
        finally:
            if not keeps_file:
                shutil.rmtree(folder, ignore_errors=True)

    def _run_editor(self, path: str) -> None:
        app = self._app
        editor_words = find_editor()
        was_paused = app.feed.is_paused
        # Polls would pile up while the editor runs.
        app.feed.pause(True)
        try:
            with app.suspend():
                run_editor(editor_words, path)
        finally:
            app.feed.pause(was_paused)
            app.refresh(layout=True)

    def _preview_changes(self, target: EditTarget, document: EditDocument, text: str, path: str) -> bool:
        """Preview the changes, and return whether the commands still need the file."""
        commands = document.plan_changes(text, path) if text != document.text else []
        if not commands:
            self._app.show_message(f"{target.title}: nothing was changed")
            return False
        needs_file = any(path in command.words for command in commands)

        def remove_file(result: Any) -> None:
            if needs_file:
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)

        self._app.row_actions.open_batch_screen(
            f"Edit {target.title}",
            commands,
            target.confirm_target,
            edit_documents.diff_texts(document.text, text),
            remove_file,
        )
        return needs_file


def find_editor(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The words of the editor in VISUAL or EDITOR, else vi."""
    editor_text = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
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
