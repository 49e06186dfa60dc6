"""Owns writing to stdout: no other module does it."""

import sys

from nsadmin.output.result_rows import OutputStyle, ResultRows, RowSelection, UnwritableOutputError


def write_rows(rows: ResultRows, output_style: OutputStyle) -> None:
    """Write rows in the chosen format; tables are drawn by Rich on a terminal, else plain aligned text.

    Raises InvalidSelectionError, with nothing written, if the selection does not fit the rows.
    """
    # A command needs only one format, so each is imported where it is used.
    if output_style.selection != RowSelection():
        from nsadmin.output.row_selection import select_rows

        rows = select_rows(rows, output_style.selection)
    if output_style.output_format == "wide":
        rows = rows._replace(table_columns=None)
    if output_style.output_format in ("table", "wide"):
        from nsadmin.output import text_table

        if sys.stdout.isatty():
            text_table.draw_table(
                rows, output_style.uses_color, output_style.shows_headers, output_style.context_banner
            )
        else:
            write_text(text_table.format_plain_table(rows, output_style.shows_headers))
    else:
        from nsadmin.output import machine_formats

        write_text(
            machine_formats.FORMAT_WRITERS[output_style.output_format](rows, output_style.shows_headers)
        )


def write_text(text: str) -> None:
    """Write a text in UTF-8, whatever the locale, and a line end; write nothing for an empty text."""
    if text and not text.endswith("\n"):
        text += "\n"
    encoded_text = text.encode("utf-8", "backslashreplace")
    try:
        sys.stdout.flush()
        unwritten_bytes = memoryview(encoded_text)
        while unwritten_bytes:
            # With PYTHONUNBUFFERED stdout is a raw file, whose write can be partial.
            unwritten_bytes = unwritten_bytes[sys.stdout.buffer.write(unwritten_bytes) :]
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableOutputError(error.errno, error.strerror, "stdout") from None


def clear_screen(output_style: OutputStyle) -> None:
    """Clear the screen before the next table; do nothing off a terminal or for other formats."""
    if output_style.output_format in ("table", "wide") and sys.stdout.isatty():
        write_text("\x1b[H\x1b[2J\x1b[3J")
