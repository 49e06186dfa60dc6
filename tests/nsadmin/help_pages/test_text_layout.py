"""Paragraphs and lists in help texts."""

from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph


def test_descriptions_stand_in_a_column_and_are_wrapped_there() -> None:
    assert format_list([("-a", "one two three four five six seven"), ("--long", "x")], 40) == [
        "  -a      one two three four five six",
        "          seven",
        "  --long  x",
    ]


def test_a_long_term_has_a_line_of_its_own() -> None:
    term = "--a-very-long-option CHOICE|CHOICE|CHOICE"
    assert format_list([("-a", "x"), (term, "y")], 60) == ["  -a  x", f"  {term}", "      y"]


def test_empty_sections_are_left_out() -> None:
    assert join_sections((["a"], [], ("b", "c"))) == "a\n\nb\nc"


def test_no_word_is_broken() -> None:
    assert wrap_paragraph("a very-long-word-with-hyphens", 10) == ["a", "very-long-word-with-hyphens"]
