"""What the words before the cursor say about where to ask."""

from pathlib import Path

import pytest

from nsadmin.command_line.parser import _CONNECTION_OPTIONS, describe_command
from nsadmin.commands.topics.topics import topic_list
from nsadmin.complete.question import ALONE, CONNECTING, Question, connection
from nsadmin.registry import find

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
    assert connection(words) == {"namesrv_addr": given[0], "context": given[1]}


def test_all_options_that_say_where_count() -> None:
    entry = find("topicList")
    assert entry is not None
    # How servers are asked makes no difference to what they answer.
    names = set(CONNECTING.values()) | {name for name, _ in ALONE.values()}
    assert {*_CONNECTION_OPTIONS} - {"timeout", "retries", "concurrency"} == names
    _, options = describe_command(entry, topic_list)
    assert {flag for option in options for flag in option.flags} >= CONNECTING.keys() | ALONE.keys()


def test_how_servers_are_reached_counts_too() -> None:
    line = "--endpoint=ns --addressMap a=b --addressMap=c=d --tlsCa ca.pem --tls --insecure --credentials env"
    assert connection(line.split()) == {
        "namesrv_addr": [],
        "context": None,
        "endpoint": "ns",
        "address_map": ["a=b", "c=d"],
        "tls_ca": "ca.pem",
        "tls": True,
        "insecure": True,
        "credentials": "env",
    }
    assert connection(["--no-tls", "--configFile", "f"])["tls"] is False


def test_the_name_is_the_same_for_the_same_servers(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    plain = Question("topics", "", ()).name(config)
    assert plain.endswith(".topics")
    assert Question("topics", "", ("topicRoute", "--json")).name({**config, "HOME": "/h"}) == plain
    (tmp_path / "config.yaml").write_text("contexts: {}")
    others = {
        Question("topics", "", ("-n", "a:1")).name(config),
        Question("topics", "", ("--context", "a")).name(config),
        Question("topics", "detail", ()).name(config),
        Question("topics", "", ()).name({**config, "NAMESRV_ADDR": "a:1"}),
        Question("topics", "", ()).name({**config, "NSADMIN_CONTEXT": "a"}),
        Question("topics", "", ()).name(config),
    }
    assert len(others - {plain}) == 6


def test_no_secret_goes_into_the_name(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    secrets = {"NSADMIN_ACCESS_KEY": "a", "NSADMIN_SECRET_KEY": "b", "NSADMIN_SECURITY_TOKEN": "c"}
    assert Question("topics", "", ()).name({**config, **secrets}) == Question("topics", "", ()).name(config)
