"""nsadmin help WORDS."""

import pytest

from nsadmin.command_line import registry
from nsadmin.console.exit_codes import UsageError
from nsadmin.help_pages.help_command import find_page
from tests.nsadmin.conftest import Run


@pytest.mark.parametrize("handle", [category.handle for category in registry.CATEGORIES])
def test_a_category_lists_its_commands_and_those_of_a_group_with_its_handle(handle: str) -> None:
    page = find_page([handle.upper()])
    category = registry.find_category(handle)
    assert page is not None
    assert category is not None
    if registry.find_group(handle) is not None:
        assert all(f"\n  {entry.typed_name}" in page for entry in registry.list_group_members(handle))
    for entry in registry.list_category_members(category):
        assert f"\n  {entry.typed_name}" in page


def test_all_lists_every_command() -> None:
    page = find_page(["all"])
    assert page is not None
    for entry in registry.COMMANDS:
        assert f"\n  {entry.typed_name}" in page


def test_a_command_has_a_page_of_its_own() -> None:
    assert find_page(["kv", "get"]) is None
    assert find_page(["topic-route"]) is None
    assert find_page(["what", "if"]) is None


def test_help_and_version_have_pages() -> None:
    assert find_page(["help"]) == find_page([])
    assert find_page(["version", "--help"]) == "Usage: nsadmin version\n\nPrint the version."


@pytest.mark.parametrize(
    ("words", "best"),
    [
        ("replay", "dlq replay"),
        ("restore", "backup restore"),
        ("undelete", "backup restore"),
        ("tail", "journal tail"),
        ("stop", "drain"),
        ("No route info", "route explain"),
        ("delayMessage", "delayed list"),
        ("'no \"route* (info", "route explain"),
        ("disk full", "clusterList"),
        ("reset offset", "resetOffsetByTime"),
        ("client certificate", "check certificates"),
        ("disk usage of brokers", "check disk"),
        ("which clients consume a topic", "consumerConnection"),
        ("more queues for a topic", "updateTopic"),
        ("busiest topics", "statsAll"),
        ("who deleted a topic", "history"),
        ("copy kv config to another name server", "kv sync"),
        ("save cluster address", "context set"),
        ("broker version", "clusterList"),
        ("delete unused topics", "orphans"),
        ("prometheus alert lag", "exporter"),
        ("make a topic read only", "updateTopicPerm"),
        ("export all messages of a topic", "messages export"),
        ("clients connected to a broker", "client list"),
        ("reboot", "rollingRestart"),
        ("keep messages longer", "updateBrokerConfig"),
        ("jump to newest", "skipAccumulatedMessage"),
        ("pause consumer", "updateSubGroup"),
        ("copy topics to new cluster", "transfer topics"),
        ("messages lost", "message track"),
        ("where did message go", "message track"),
        ("allow user to produce", "createAcl"),
        ("which topics take the space", "statsAll"),
        ("cron mail", "check all"),
    ],
)
def test_other_words_are_searched(words: str, best: str) -> None:
    page = find_page(words.split())
    assert page is not None
    assert f"\n  {best} " in page.partition("Guides:")[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("consumer not consuming", "group explain"),
        ("who consumed this message", "message track"),
        ("give a user permission to send", "createAcl"),
        ("new broker joined", "rebalance plan"),
        ("new broker joined", "spread"),
        ("pending delayed messages", "delayed list"),
        ("who consumes topic", "client list"),
        ("who consumes the topic orders", "client list"),
        ("broker config differ", "configDiff"),
        ("what if a broker dies", "whatIf"),
        ("who changed", "audit list"),
        ("who changed", "history"),
        ("who deleted a topic", "audit list"),
        ("migrate cluster", "transfer topics"),
        ("which broker is master", "clusterList"),
        ("reset password", "updateUser"),
        ("who sends to this topic", "client list"),
        ("resend message", "dlq replay"),
        ("can user write topic", "getAcl"),
        ("can user write topic", "listAcl"),
        ("key", "queryMsgByKey"),
        ("stop a group from reading", "updateSubGroup"),
        ("No route info", "route explain"),
        ("make a topic read only", "updateTopicPerm"),
        ("consume consumer consuming", "consumerProgress"),
    ],
)
def test_a_question_has_its_command_among_the_first_two(words: str, expected: str) -> None:
    page = find_page(words.split())
    assert page is not None
    first_two = [line for line in page.partition("Commands:\n")[2].splitlines() if line[2:3].strip()][:2]
    assert any(line.startswith(f"  {expected} ") for line in first_two), first_two


def test_the_best_commands_have_the_example_with_most_of_the_words() -> None:
    page = find_page(["deleted", "topic", "get", "back"])
    assert page is not None
    assert "\n  nsadmin backup restore cluster-a.nsbackup.zip -t orders --yes\n" in page
    assert "--force" not in str(find_page(["stop", "a", "broker"]))


def test_errors_are_found_by_their_text() -> None:
    page = find_page(["SLAVE_NOT_AVAILABLE"])
    assert page is not None
    assert "Errors:\n  nsadmin errors 11 " in page


def test_guides_are_found_by_their_text() -> None:
    page = find_page(["preStop", "hook"])
    assert page is not None
    assert "Guides:\n  nsadmin guide run-on-kubernetes" in page


def test_words_that_are_nowhere_are_an_error() -> None:
    with pytest.raises(UsageError, match='no command and no guide has "columnz": nsadmin help all lists'):
        find_page(["columnz"])


def test_options_environment_and_exit_codes_are_pages(run: Run) -> None:
    for word, text in (
        ("options", "--namesrvAddr LIST"),
        ("options", "-y, --yes"),
        ("options", "--wait-until-ok DURATION"),
        ("environment", "NAMESRV_ADDR"),
        ("exit-codes", "  3    partly done: some servers failed\n"),
    ):
        result = run("help", word)
        assert (result.code, result.err) == (0, "")
        assert text in result.out


def test_columns_of_a_command_are_explained(run: Run) -> None:
    result = run("help", "columns", "kv", "get")
    assert result.code == 0
    assert result.out.startswith(
        "Columns of nsadmin kv get, for --columns, --sort and --filter:\n  namesrvAddr  "
    )
    assert run("help", "columns", "batch").out == "batch prints no table.\n"
    assert run("help", "columns", "kvv").code == 2
    usage = "nsadmin: missing argument COMMAND: usage: nsadmin help columns COMMAND\n"
    assert run("help", "columns") == (2, "", usage)
