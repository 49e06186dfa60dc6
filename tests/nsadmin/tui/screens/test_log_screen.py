"""What went wrong, the newest first."""

from nsadmin.tui.screens.log_screen import log_lines
from tests.support.screens import join_cells


def test_the_newest_comes_first_and_nothing_is_said_so() -> None:
    log_texts = [join_cells(line) for line in log_lines([(0, "one"), (60_000, "two")])]
    assert [line[8:] for line in log_texts] == ["  two", "  one"]
    assert log_lines([])[0][0].text == "no errors or warnings"
