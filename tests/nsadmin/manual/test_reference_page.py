"""docs/reference/commands.md."""

from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.manual.reference_page import render_reference


def test_every_command_has_its_section_and_shared_options_are_listed_once() -> None:
    page = render_reference(describe_all_commands())
    for command in describe_all_commands():
        assert f"### {command.entry.typed_name}\n" in page
    assert page.count("`-n, --namesrvAddr LIST` | Name servers: HOST:PORT") == 1
    assert page.count("`--dry-run`") == 1
    assert "`nsadmin wipeWritePerm BROKER`" in page
    assert "| `-b, --brokerName BROKER` |" in page
    assert "`nsadmin lab up|run|list`" in page


def test_the_commands_of_a_program_have_sections() -> None:
    _, _, section = render_reference(describe_all_commands()).partition("#### lab run\n")
    section = section.partition("\n### ")[0].partition("\n#### ")[0]
    assert "`nsadmin lab run SCENARIO`" in section
    assert "| `SCENARIO` | one to play" in section
    assert "| `--until TIME` |" in section
    assert "--clusters" not in section


def test_a_section_has_columns_and_examples() -> None:
    _, _, section = render_reference(describe_all_commands()).partition("### topicRoute\n")
    section = section.partition("\n### ")[0]
    assert "| column | |\n|---|---|\n| `topic` | name of the topic |\n" in section
    assert "```sh\n# Brokers and queues of a topic\nnsadmin topicRoute orders\n" in section


def test_commands_are_listed_under_the_headings_of_their_category() -> None:
    page = render_reference(describe_all_commands())
    assert "\n## Name servers\n" in page
    assert "\n## \n" not in page
