"""What is suggested for a name that was not found, by whatever command."""

import pytest

from nsadmin.command_line.completion.value_sources import source_of_metavar
from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.registry import COMMANDS
from nsadmin.command_line.server_name_suggestions import _find_similar_names
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker


@pytest.fixture
def server(first_server: FakeNameServer) -> FakeNameServer:
    first_server.clusters = {"DefaultCluster": first_server.clusters["C"]}
    first_server.routes = {"orders": {"broker-a": 6}, "Orders-eu": {"broker-a": 6}, "TBW102": {"broker-a": 6}}
    first_server.kv = {"N": {"prod-limit": "1"}}
    return first_server


def said(run: Run, server: FakeNameServer, *words: str) -> list[str]:
    result = run(*words, "-n", server.addr)
    assert result.code == 5
    return [line for line in result.err.splitlines() if "did you mean" in line]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("topicRoute", "order"), 'no topic "order"; did you mean "orders"?'),
        (("topicRoute", "ORDERS"), 'no topic "ORDERS"; did you mean "orders"'),
        (("wipeWritePerm", "brokera"), 'no broker "brokera"; did you mean "broker-a"?'),
        (("clusterList", "-c", "Default"), 'no cluster "Default"; did you mean "DefaultCluster"?'),
        (("kvGet", "N", "limit"), 'no key "limit"; did you mean "prod-limit"?'),
        (
            ("deleteTopic", "orders", "defaultcluster", "--yes"),
            'no cluster "defaultcluster"; did you mean "Def',
        ),
        (("updateTopic", "order", "-c", "Default", "--dry-run"), 'no cluster "Default"; did you mean "Def'),
        (
            ("updateNamesrvConfig", "listenport", "1", "--dry-run"),
            'no setting "listenport"; did you mean "listenPort"?',
        ),
    ],
)
def test_names_that_look_alike(run: Run, server: FakeNameServer, words: tuple[str, ...], line: str) -> None:
    [suggestion] = said(run, server, *words)
    assert suggestion.startswith(f"nsadmin: {line}")


def test_groups(run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker) -> None:
    assert consumer_broker.addr
    assert said(run, first_server, "consumerProgress", "g") == [
        'nsadmin: no consumer group "g"; did you mean "G"?'
    ]


def test_a_topic_and_a_group_in_the_wrong_order(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    first_server.routes = {topic: {"broker-a": 6} for topic in ("orders", "%RETRY%G", "%DLQ%G")}
    words = ("consumerProgress", "orders", "-t", "G", "-n", first_server.addr)
    assert run(*words).err == (
        'nsadmin: no consumer group "orders"; a topic has this name; '
        'no topic "G"; a consumer group has this name\n'
    )
    assert said(run, first_server, "topicRoute", "%RETRY%H") == [
        'nsadmin: no topic "%RETRY%H"; did you mean "%RETRY%G"?'
    ]


def test_a_group_that_no_broker_has(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    assert consumer_broker.addr
    result = run("deleteSubGroup", "nope", "-c", "C", "--dry-run", "-n", first_server.addr)
    assert result.err.endswith("nsadmin: run nsadmin consumerProgress to list the groups\n")


def test_the_address_of_a_broker_instead_of_its_name(run: Run, server: FakeNameServer) -> None:
    [addr] = server.clusters["DefaultCluster"]["broker-a"].values()
    result = run("wipeWritePerm", addr, "-n", server.addr)
    line = f"nsadmin: {addr} is an address of the broker broker-a: pass its name"
    assert (result.code, result.err.splitlines()[-1]) == (5, line)


def test_producer_groups(run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.producers = {"Billing": ["p1"]}
    line = 'nsadmin: no producer group "biling"; did you mean "Billing"?'
    assert said(run, first_server, "producerConnection", "biling") == [line]


def test_a_setting_of_a_broker_needs_no_name_server(run: Run) -> None:
    with TopicBroker() as broker:
        key = sorted(broker.items)[0]
        result = run("updateBrokerConfig", key.upper(), "1", "-b", broker.addr)
    assert (result.code, result.err.splitlines()[-1]) == (
        5,
        f'nsadmin: no setting "{key.upper()}"; did you mean "{key}"?',
    )


def test_a_setting_that_only_shares_words_is_not_suggested(run: Run) -> None:
    with TopicBroker() as broker:
        broker.items |= {"duplicationEnable": "false", "authorizationMetadataProvider": ""}
        unknown = run("updateBrokerConfig", "authorizationEnabled", "1", "-b", broker.addr)
        mistyped = run("updateBrokerConfig", "duplicationEnabel", "1", "-b", broker.addr)
    assert (unknown.code, "did you mean" in unknown.err) == (5, False)
    assert 'did you mean "duplicationEnable"?' in mistyped.err


@pytest.mark.parametrize(
    "words",
    [("topicRoute", "zzzzzz"), ("topicRoute", "orders", "--quiet"), ("topicRoute", "order", "--quiet")],
)
def test_nothing_is_suggested_where_nothing_is_alike_or_nobody_wants_to_know(
    run: Run, server: FakeNameServer, words: tuple[str, ...]
) -> None:
    server.routes["orders"] = {}
    assert said(run, server, *words) == []


def test_who_does_not_tell_names_is_not_mentioned(run: Run, server: FakeNameServer) -> None:
    del server.handlers[206]
    result = run("topicRoute", "order", "-n", server.addr)
    assert result.err.splitlines()[1:] == ["nsadmin: run nsadmin topicList to list the topics"]


def test_the_nearest_are_first_and_equals_together() -> None:
    known = [f"orders-{letter}" for letter in "abcdef"]
    assert _find_similar_names("orders-x", [*known, "orders-yyy"]) == known
    assert _find_similar_names("orders-aa", known)[0] == "orders-a"
    assert _find_similar_names("payment", ["eu-payment-of-invoices-in-time", "us"]) == [
        "eu-payment-of-invoices-in-time"
    ]


def test_every_topic_broker_cluster_and_group_of_a_command_is_known_as_such() -> None:
    sources = {"topic": "topics", "cluster_name": "clusters", "group": "groups"}
    for entry in COMMANDS:
        if entry.kind == "program":
            continue
        function = entry.load_function()
        for item in command_parameters(function):
            expected = sources.get(item.name)
            if (entry.name, item.name) == ("producerConnection", "group"):
                expected = "producer-groups"
            value_source = source_of_metavar(item.metavar or "", item.value_source)
            assert expected in (None, value_source), f"{entry.name} {item.name}"


def test_a_suggestion_replaces_the_error_of_the_server(run: Run, server: FakeNameServer) -> None:
    result = run("topicRoute", "order", "-n", server.addr)
    assert (result.code, result.err) == (5, 'nsadmin: no topic "order"; did you mean "orders"?\n')
