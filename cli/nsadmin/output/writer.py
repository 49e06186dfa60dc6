"""The one hand that writes to stdout."""

import sys

from nsadmin.output.rows import Rows, Selection, Style, Unwritable


def write_rows(rows: Rows, style: Style) -> None:
    """Rows in the chosen format; Rich draws a table on a terminal, elsewhere it is plain aligned text.

    BadSelection, with nothing written, where the style selects what is not there.
    """
    # Each format is imported where it is used: a command needs one of them.
    if style.selection != Selection():
        from nsadmin.output.select import select

        rows = select(rows, style.selection)
    if style.format == "wide":
        rows = rows._replace(in_table=None)
    if style.format in ("table", "wide"):
        from nsadmin.output import table

        if sys.stdout.isatty():
            table.draw(rows, style.color, style.headers, style.banner)
        else:
            write_text(table.as_text(rows, style.headers))
    else:
        from nsadmin.output import machine

        write_text(machine.WRITERS[style.format](rows, style.headers))


def write_text(text: str) -> None:
    """Text as it is, in UTF-8 whatever the locale, with a line end behind it; nothing for no text."""
    if text and not text.endswith("\n"):
        text += "\n"
    data = text.encode("utf-8", "backslashreplace")
    try:
        sys.stdout.flush()
        left = memoryview(data)
        while left:
            # With PYTHONUNBUFFERED this is a raw file, which may take a part and say how much.
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritable(error.errno, error.strerror, "stdout") from None


def start_over(style: Style) -> None:
    """Clear the screen for the next table; nothing where there is no screen, or no table."""
    if style.format in ("table", "wide") and sys.stdout.isatty():
        write_text("\x1b[H\x1b[2J\x1b[3J")
