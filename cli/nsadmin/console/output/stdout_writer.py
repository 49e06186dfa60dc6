"""Owns writing to stdout: no other module does it."""

import re
import sys

from nsadmin.console.output.result_rows import OutputStyle, ResultRows, RowSelection, UnwritableOutputError


def write_rows(rows: ResultRows, style: OutputStyle) -> ResultRows:
    """Write rows in the chosen format; tables are drawn by Rich on a terminal, else plain aligned text.

    A table without rows is not written; the other formats write an empty list or only their column names.

    Returns the selected rows. Raises InvalidSelectionError, with nothing written, if the
    selection does not fit the rows.
    """
    # A command needs only one format, so each is imported where it is used.
    if style.selection != RowSelection():
        from nsadmin.console.output.row_selection import select_rows

        rows = select_rows(rows, style.selection)
    if style.output_format == "wide":
        rows = rows._replace(table_columns=None)
    if style.output_format in ("table", "wide"):
        if not rows.rows:
            # Column names above nothing look like an unfinished answer; a note on stderr says what is empty.
            return rows
        from nsadmin.console.output import text_table

        if sys.stdout.isatty():
            text_table.draw_table(
                rows,
                style.uses_color,
                style.shows_headers,
                style.context_banner,
                truncated_column="body" if style.output_format == "table" else None,
            )
        else:
            write_text(text_table.format_plain_table(rows, style.shows_headers))
    else:
        from nsadmin.console.output import machine_formats

        if style.output_format in ("csv", "spreadsheet") and sys.stdout.isatty():
            # A terminal shows a line end between quotes as the beginning of another row.
            rows = machine_formats.escape_cells(rows)
        write_text(machine_formats.FORMAT_WRITERS[style.output_format](rows, style.shows_headers))
    return rows


# The characters that `escape_unsafe` escapes, without line feeds and tabs, which lay out the text.
_TERMINAL_CONTROL_PATTERN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def write_text(text: str) -> None:
    r"""Write a text in UTF-8, in every locale, and a line end; write nothing for an empty text.

    On a terminal, characters that could control it become escapes such as \u001b, which JSON allows.
    """
    if text and not text.endswith("\n"):
        text += "\n"
    if sys.stdout.isatty():
        text = _TERMINAL_CONTROL_PATTERN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    _write_bytes(text.encode("utf-8", "backslashreplace"))


def _write_bytes(encoded: bytes) -> None:
    try:
        sys.stdout.flush()
        rest = memoryview(encoded)
        while rest:
            # With PYTHONUNBUFFERED stdout is a raw file, whose write can be partial.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableOutputError(error.errno, error.strerror, "stdout") from None


def clear_screen(style: OutputStyle) -> None:
    """Clear the screen before the next table; do nothing off a terminal or for other formats."""
    if style.output_format in ("table", "wide") and sys.stdout.isatty():
        _write_bytes(b"\x1b[H\x1b[2J\x1b[3J\n")
