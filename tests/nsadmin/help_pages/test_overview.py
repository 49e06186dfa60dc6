"""The text of nsadmin --help."""

from nsadmin.command_line import registry
from nsadmin.help_pages.overview import DAILY_COMMANDS, overview_text

MAX_LINES = 60


def test_it_has_at_most_sixty_lines_that_fit_a_narrow_terminal() -> None:
    lines = overview_text().splitlines()
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= 80


def test_it_lists_ten_commands_of_every_day_with_their_help() -> None:
    assert len(DAILY_COMMANDS) == 10
    lines = overview_text().splitlines()
    for name in DAILY_COMMANDS:
        entry = registry.take_command(name.split())[0]
        assert entry is not None
        assert [line for line in lines if line.startswith(f"  {name} ") and line.endswith(f"  {entry.help}")]


def test_it_leads_to_every_category_group_and_shared_page() -> None:
    text = overview_text()
    for category in registry.CATEGORIES:
        assert f"  {category.handle} " in text
    for group in registry.COMMAND_GROUPS:
        assert f"{group}," in text or f"{group}\n" in text
    for page in ("GROUP", "all", "options", "environment", "exit-codes"):
        assert f"nsadmin help {page} " in text
