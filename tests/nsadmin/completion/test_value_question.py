"""What the words before the cursor say about where to ask."""

from pathlib import Path

import pytest
from nsadmin.command_line.parser import describe_command

from nsadmin.command_line import shared_options
from nsadmin.commands.topics.topics import topic_list
from nsadmin.completion.value_question import (
    CONNECTION_FLAGS,
    CONNECTION_OPTIONS,
    ValueQuestion,
    parse_connection_values,
)
from nsadmin.registry import find_command

ADDRS = ["a:1;b:2"]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), ([], None)),
        (("topicRoute", "-n", "a:1;b:2"), (ADDRS, None)),
        (("-na:1;b:2", "topicRoute"), (ADDRS, None)),
        (("--namesrvAddr=a:1;b:2",), (ADDRS, None)),
        (("-n", "a:1", "--namesrvAddr", "b:2"), (["a:1", "b:2"], None)),
        (("--context", "prod", "topicRoute", "--context=lab"), ([], "lab")),
        (("topicRoute", "-n"), ([], None)),
        (("topicList", "--no-headers"), ([], None)),
    ],
)
def test_where_to_ask(words: tuple[str, ...], given: tuple[list[str], str | None]) -> None:
    assert parse_connection_values(words) == {"namesrv_addr": given[0], "context": given[1]}


def test_all_options_that_say_where_count() -> None:
    entry = find_command("topicList")
    assert entry is not None
    # How servers are asked makes no difference to what they answer.
    names = set(CONNECTION_OPTIONS.values()) | {name for name, _ in CONNECTION_FLAGS.values()}
    assert {*shared_options.CONNECTION_OPTIONS} - {"timeout", "retries", "concurrency"} == names
    _, options = describe_command(entry, topic_list)
    assert {
        flag for option in options for flag in option.flags
    } >= CONNECTION_OPTIONS.keys() | CONNECTION_FLAGS.keys()


def test_how_servers_are_reached_counts_too() -> None:
    line = "--endpoint=ns --addressMap a=b --addressMap=c=d --tlsCa ca.pem --tls --insecure --credentials env"
    assert parse_connection_values(line.split()) == {
        "namesrv_addr": [],
        "context": None,
        "endpoint": "ns",
        "address_map": ["a=b", "c=d"],
        "tls_ca": "ca.pem",
        "tls": True,
        "insecure": True,
        "credentials": "env",
    }
    assert parse_connection_values(["--no-tls", "--configFile", "f"])["tls"] is False


def test_the_name_is_the_same_for_the_same_servers(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    plain = ValueQuestion("topics", "", ()).cache_name(config)
    assert plain.endswith(".topics")
    assert ValueQuestion("topics", "", ("topicRoute", "--json")).cache_name({**config, "HOME": "/h"}) == plain
    (tmp_path / "config.yaml").write_text("contexts: {}")
    others = {
        ValueQuestion("topics", "", ("-n", "a:1")).cache_name(config),
        ValueQuestion("topics", "", ("--context", "a")).cache_name(config),
        ValueQuestion("topics", "detail", ()).cache_name(config),
        ValueQuestion("topics", "", ()).cache_name({**config, "NAMESRV_ADDR": "a:1"}),
        ValueQuestion("topics", "", ()).cache_name({**config, "NSADMIN_CONTEXT": "a"}),
        ValueQuestion("topics", "", ()).cache_name(config),
    }
    assert len(others - {plain}) == 6


def test_no_secret_goes_into_the_name(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    secrets = {"NSADMIN_ACCESS_KEY": "a", "NSADMIN_SECRET_KEY": "b", "NSADMIN_SECURITY_TOKEN": "c"}
    assert ValueQuestion("topics", "", ()).cache_name({**config, **secrets}) == ValueQuestion(
        "topics", "", ()
    ).cache_name(config)
