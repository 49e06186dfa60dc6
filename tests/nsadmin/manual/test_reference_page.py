"""reference/commands.md and reference/commands/."""

import re

from nsadmin.command_line.registry import CATEGORIES, COMMANDS
from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.manual.reference_page import CATEGORY_FOLDER, INDEX_PAGE, render_pages

PAGES = render_pages(describe_all_commands())


def page_of(handle: str) -> str:
    return PAGES[f"{CATEGORY_FOLDER}/{handle}.md"]


def section_of(handle: str, heading: str) -> str:
    _, _, section = page_of(handle).partition(f"{heading}\n")
    level = heading.partition(" ")[0]
    return re.split(rf"\n#{{2,{len(level)}}} ", section)[0]


def test_every_command_has_a_section_on_the_page_of_its_category() -> None:
    assert [*PAGES] == [INDEX_PAGE, *(f"{CATEGORY_FOLDER}/{category.handle}.md" for category in CATEGORIES)]
    for entry in COMMANDS:
        assert f"\n## {entry.typed_name}\n" in page_of(entry.category.handle)


def test_each_page_begins_with_its_contents_and_the_index_has_all_of_them() -> None:
    for entry in COMMANDS:
        anchor = entry.typed_name.replace(" ", "-").lower()
        assert f"\n- [`{entry.typed_name}`](#{anchor}): " in page_of(entry.category.handle)
        assert (
            f"\n- [`{entry.typed_name}`](commands/{entry.category.handle}.md#{anchor}): " in PAGES[INDEX_PAGE]
        )


def test_shared_options_are_listed_once_on_the_index_page() -> None:
    for text in (
        "- `-n, --namesrvAddr ADDRS`: Name servers",
        "- `--dry-run`: ",
        "- `--wait-until-ok DURATION`: ",
    ):
        assert [page.count(text) for page in PAGES.values()] == [1] + [0] * len(CATEGORIES)


def test_a_section_has_usage_options_columns_and_examples() -> None:
    section = section_of("maintenance", "## wipeWritePerm")
    assert section.startswith("\n```text\nnsadmin wipeWritePerm BROKER\n```\n")
    assert "\nCommon options: `-b, --broker, --brokerName BROKER`.\n" in section
    section = section_of("topics", "## topicRoute")
    assert "\nColumns: `topic`, `brokerName`, " in section
    caption = "Describe the settings of a topic: brokers, queues (partitions), permission"
    assert f"```sh\n# {caption}\nnsadmin topicRoute orders\n" in section


def test_common_columns_and_options_are_explained_on_the_index_page_alone() -> None:
    for text in ("- `brokerName`: name of the broker\n", "- `-t, --topic TOPIC`: Name of a topic.\n"):
        assert [page.count(text) for page in PAGES.values()] == [1] + [0] * len(CATEGORIES)


def test_another_meaning_of_a_common_name_stands_below_the_command() -> None:
    assert (
        "\n- `-t, --topic TOPIC`: Also check this topic, or a pattern: 'pay*'. Repeatable, or a list: A,B.\n"
        in section_of("checks", "## check all")
    )
    assert "\n- `result`: done, dry-run or failed\n" in page_of("topics")


def test_a_command_with_exit_codes_of_its_own_lists_them() -> None:
    assert "\nExit codes: 0 equal; 1 different; " in section_of("name-servers", "## kv diff")
    assert "Exit codes:" not in section_of("name-servers", "## kv get")


def test_the_commands_of_the_lab_have_sections() -> None:
    section = section_of("programs", "## lab run")
    assert "```text\nnsadmin lab run SCENARIO\n```" in section
    assert "- `--scenario SCENARIO`: " in section
    assert "- `--until DURATION`: " in section
    assert "--clusters" not in section
