"""Lays out help texts: paragraphs, and lists of terms with their descriptions. Pure."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

_MAX_TERM_WIDTH = 30


def wrap_paragraph(text: str, width: int, indent: str = "") -> list[str]:
    return wrap(
        text, width, initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def format_list(items: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Lines with each term and, in a second column, its description; a long term has a line of its own."""
    item_list = list(items)
    short_widths = [len(term) for term, _ in item_list if len(term) <= _MAX_TERM_WIDTH]
    description_column = max(short_widths, default=_MAX_TERM_WIDTH) + 4
    lines: list[str] = []
    for term, description in item_list:
        description_lines = wrap_paragraph(description, max(width - description_column, 30)) or [""]
        if len(term) + 4 > description_column:
            lines.append(f"  {term}")
        else:
            first_line = description_lines.pop(0)
            lines.append(f"  {term}".ljust(description_column) + first_line)
        lines += [" " * description_column + description_line for description_line in description_lines]
    return [line.rstrip() for line in lines]


def join_sections(sections: Iterable[Sequence[str]]) -> str:
    """Join the sections that have lines, with an empty line between two of them."""
    return "\n\n".join("\n".join(section) for section in sections if section)
