"""The one hand that writes to stdout."""

import sys

from nsadmin.output.result_rows import OutputStyle, ResultRows, RowSelection, UnwritableOutputError


def write_rows(rows: ResultRows, output_style: OutputStyle) -> None:
    """Rows in the chosen format; Rich draws a table on a terminal, elsewhere it is plain aligned text.

    BadSelection, with nothing written, where the style selects what is not there.
    """
    # Each format is imported where it is used: a command needs one of them.
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
    """Text as it is, in UTF-8 whatever the locale, with a line end behind it; nothing for no text."""
    if text and not text.endswith("\n"):
        text += "\n"
    encoded_text = text.encode("utf-8", "backslashreplace")
    try:
        sys.stdout.flush()
        unwritten_bytes = memoryview(encoded_text)
        while unwritten_bytes:
            # With PYTHONUNBUFFERED this is a raw file, which may take a part and say how much.
            unwritten_bytes = unwritten_bytes[sys.stdout.buffer.write(unwritten_bytes) :]
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableOutputError(error.errno, error.strerror, "stdout") from None


def clear_screen(output_style: OutputStyle) -> None:
    """Clear the screen for the next table; nothing where there is no screen, or no table."""
    if output_style.output_format in ("table", "wide") and sys.stdout.isatty():
        write_text("\x1b[H\x1b[2J\x1b[3J")
