"""group explain: what is asked, and what comes of it."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker, format_queue_map
from tests.support.fake_servers import FakeNameServer, answer_json


@pytest.fixture
def online_broker(consumer_broker: ConsumerBroker) -> ConsumerBroker:
    """A broker on which the client c1 of the group G has consumed both queues of T."""
    consumer_broker.properties |= {"brokerName": "broker-a", "brokerPermission": "6"}
    consumer_broker.topics = {"T": ["G"]}
    consumer_broker.offsets = {("G", "T", 0): 100, ("G", "T", 1): 50}
    consumer_broker.clients = {"G": ["c1"]}
    queues = format_queue_map("broker-a", {("T", number): {} for number in range(8)})
    subscriptions = json.dumps([{"topic": "T", "expressionType": "TAG", "subString": "*"}])
    consumer_broker.running = {"c1": f'{{"mqTable":{queues},"subscriptionSet":{subscriptions}}}'}
    consumer_broker.handlers[402] = lambda asked: answer_json(asked, {"messageRequestModeMap": {}})
    return consumer_broker


def test_a_group_that_consumes(ask: Run, online_broker: ConsumerBroker) -> None:
    result = ask("group", "explain", "G", "--json")
    assert (result.code, {row["result"] for row in result.json}) == (0, {"ok", "skipped"}), result
    assert result.err == "nsadmin: no problem: the group consumes its topics\n"
    assert {row["group"] for row in ask("group", "explain", "--topic", "T", "--json").json} == {"G"}
    assert ask("group", "explain", "G").out.startswith("result ")
    assert ask("group", "explain", "--topic", "T").out.startswith("group ")


def test_a_group_that_is_far_behind(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.offsets = {("G", "T", 0): 0, ("G", "T", 1): 0}
    result = ask("group", "explain", "G", "--json")
    assert result.code == 0, result
    assert result.err.startswith(
        "nsadmin: the group consumes its topics, but is behind\nnsadmin: warnings: lag ("
    )


def test_a_group_without_clients(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.clients = {}
    result = ask("group", "explain", "G", "--json")
    assert (result.code, result.json[0]["step"]) == (1, "noClient")
    assert result.err.startswith("nsadmin: cause found: noClient (no client of the group is connected)\n")


def test_a_dead_broker_is_a_cause(
    ask: Run, first_server: FakeNameServer, online_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    result = ask("group", "explain", "G", "--json")
    assert result.code in (1, 3)
    assert result.json[0]["step"] == "brokerDown"


def test_several_groups_by_list_or_pattern(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.configs |= {name: {"groupName": name} for name in ("G-idle", "other")}
    asked = online_broker.asked
    several = ask("group", "explain", "G*", "--json")
    assert (several.code, list(dict.fromkeys(row["group"] for row in several.json))) == (1, ["G", "G-idle"])
    assert "nsadmin: G: the group consumes its topics\n" in several.err.replace("no problem: ", "")
    assert "nsadmin: G-idle: cause found: noClient (no client" in several.err
    # The brokers are read once for all groups.
    assert sum(request.code == RequestCode.GET_BROKER_CONFIG for request in asked) == 1
    assert ask("group", "explain", "G,other").out.startswith("group ")
    assert ask("group", "explain", "zz*").err.startswith('nsadmin: no consumer group matches "zz*"\n')


def test_without_a_group_all_are_explained(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.configs["H"] = {}
    assert {row["group"] for row in ask("group", "explain", "--json").json} == {"G", "H"}


def test_what_cannot_be_asked(ask: Run, online_broker: ConsumerBroker) -> None:
    assert ask("group", "explain", "--topic", "NoSuchTopic").code == 5
    assert ask("group", "explain", "G", "-c", "NoSuchCluster").code == 5


def test_a_script_gets_the_same(first_server: FakeNameServer, online_broker: ConsumerBroker) -> None:
    with AdminClient(first_server.addr) as admin:
        explanation = admin.explain_group("G")
    assert (explanation.group, explanation.verdict) == ("G", "fine")
