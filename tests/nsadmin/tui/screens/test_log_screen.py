"""What went wrong, the newest first."""

from nsadmin.tui.screens.log_screen import log_lines


def test_the_newest_comes_first_and_nothing_is_said_so() -> None:
    log_texts = ["".join(cell.text for cell in line) for line in log_lines([(0, "one"), (60_000, "two")])]
    assert [line[8:] for line in log_texts] == ["  two", "  one"]
    assert log_lines([])[0][0].text == "no errors or warnings"
