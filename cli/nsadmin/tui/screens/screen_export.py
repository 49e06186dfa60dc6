"""Saves the screen or its rows to a file."""

from pathlib import Path
from typing import Any

from namesrv_core import private_files
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.views import row_export


def save_screen(app: BaseTui, file_name: str) -> None:
    """Save the screen or its rows. The suffix of the file name chooses the format.

    An existing file is kept, unless the name is followed by `!`.
    """
    path = Path(file_name.removesuffix("!")).expanduser()
    text_by_suffix: dict[str, Any] = {
        ".svg": lambda: app.export_screenshot(title=f"nsadmin {app.cluster_context.label}"),
        ".txt": lambda: screen_to_text(app),
        ".csv": lambda: row_export.rows_to_csv(app.current_view, app.filtered_rows),
        ".jsonl": lambda: _format_jsonl(app),
    }
    if path.suffix not in text_by_suffix:
        suffixes = ", ".join(row_export.FILE_SUFFIXES)
        app.show_message(f'invalid file name "{file_name}": end it in {suffixes}', "bad")
        return
    try:
        mode = "w" if file_name.endswith("!") else "x"
        with open(path, mode, encoding="utf-8", opener=private_files.open_private_file) as file:
            file.write(text_by_suffix[path.suffix]())
    except FileExistsError:
        app.show_message(f"{path} exists: choose another name, or add ! to replace it", "bad")
        return
    except OSError as error:
        app.show_message(f"{file_name} was not saved: {error.strerror}", "bad")
        return
    app.show_message(f"saved {path}")


def _format_jsonl(app: BaseTui) -> str:
    """All rows as lines of JSON. Messages are as `nsadmin consume --output jsonl` prints them."""
    if app.current_view.message_query is None:
        return row_export.rows_to_jsonl(app.current_view, app.filtered_rows)
    from nsadmin.tui.messages.message_query import messages_to_jsonl

    return messages_to_jsonl(app.filtered_rows, app.messages.tools)
