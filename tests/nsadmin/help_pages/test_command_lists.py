"""Lists of the commands of a group or a category."""

from nsadmin.command_line import registry
from nsadmin.help_pages.command_lists import category_text, group_text


def test_a_group_has_its_usage_and_commands() -> None:
    lines = group_text("journal").splitlines()
    assert lines[0].startswith("The journal of a name server")
    assert "Usage: nsadmin journal COMMAND [ARGUMENTS] [OPTIONS]" in lines
    assert "  journal cat     Print the events of a journal" in lines
    assert "Exit codes:" not in lines


def test_a_group_has_the_commands_of_mqadmin_as_verbs() -> None:
    assert "\n  kv set     Set a value of the KV config (updateKvConfig)\n" in group_text("kv")


def test_only_checks_list_exit_codes() -> None:
    assert "  3  unknown, or the command line is wrong" in group_text("check")


def test_a_category_has_its_title() -> None:
    category = registry.find_category("topics")
    assert category is not None
    assert category_text(category).startswith("Topics: routes, queues, traffic and settings of topics\n")
