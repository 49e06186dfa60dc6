"""Whole tables, and very many changes at once, on the wire."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from namesrv_core.errors import NotSupported, RequestError, TopicNotExist
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, ReadOnlyAccess
from nsadmin.client.topics.bulk_changes import DesiredConfig, KvValue, QueueClosure
from tests.support.fake_servers import FakeBroker, FakeNameServer, Server, answer_json
from tests.support.topic_brokers import topic_config

CONFIG = {**topic_config("T", readQueueNums=4), "attributes": {"message.type": "FIFO"}}
FIFO = {"+message.type": "FIFO", "-old": ""}


@pytest.fixture
def admin(first_server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


def test_the_topics_of_a_broker(admin: AdminClient, broker: FakeBroker) -> None:
    detail = (
        b'"topicQueueMappingDetailMap":{"S":{"hostedQueues":{0:[]},"topic":"S","epoch":1,"totalQueues":1}}'
    )
    table = json.dumps({"T": CONFIG, "S": topic_config("S")}).encode()
    broker.handlers[21] = lambda asked: build_reply(
        asked, body=b'{"topicConfigTable":' + table + b"," + detail + b"}"
    )
    [topic_result, gone] = admin.bulk.list_topics([broker.addr, "127.0.0.1:1"])
    assert topic_result.result is not None
    assert (list(topic_result.result.configs_by_topic), topic_result.result.static_topics) == (
        ["S", "T"],
        frozenset({"S"}),
    )
    assert topic_result.result.queue_shares["S"].hosted_queues == {0: ()}
    assert (gone.result, gone.error is None) == (None, False)


def test_groups_and_system_topics(admin: AdminClient, broker: FakeBroker) -> None:
    groups = {"subscriptionGroupTable": {"g": {"groupName": "g"}, "odd": None}}
    broker.handlers[201] = lambda asked: answer_json(asked, groups)
    broker.handlers[305] = lambda asked: answer_json(asked, {"topicList": ["TBW102", None]})
    assert admin.bulk.list_groups([broker.addr])[0].result == {"g": {"groupName": "g"}}
    assert admin.bulk.list_system_topics([broker.addr])[0].result == frozenset({"TBW102"})


def test_undecoded_bodies_of_many_reads(admin: AdminClient, broker: FakeBroker) -> None:
    broker.handlers[202] = lambda asked: (
        build_reply(asked, body=b"{not decoded")
        if asked.ext == {"topic": "T"}
        else build_reply(asked, 17, remark="no topic")
    )
    places = [(broker.addr, {"topic": "T"}), (broker.addr, {"topic": "U"})]
    body_result, missing = admin.bulk.read_bodies(RequestCode.GET_TOPIC_STATS_INFO, places)
    assert body_result.result == b"{not decoded"
    assert isinstance(missing.error, TopicNotExist)


def test_values_of_each_name_server(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    first_server.kv = {"N": {"b": "2", "a": "1"}}
    second_server.handlers[RequestCode.GET_KVLIST_BY_NAMESPACE] = lambda a: build_reply(a, 1, remark="broken")
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        kv_result, broken = admin.bulk.list_kv_values(["N", "M"])
        assert (kv_result.addr, kv_result.result) == (first_server.addr, {"N": {"a": "1", "b": "2"}, "M": {}})
        assert (broken.addr, broken.result, isinstance(broken.error, RequestError)) == (
            second_server.addr,
            None,
            True,
        )
        assert [listing.result for listing in admin.bulk.list_routed_topics("C")] == [frozenset({"T"})] * 2


def sent(broker: Server, act: Callable[[], Any], code: int) -> list[RemotingCommand]:
    """The requests of a code that an act sends."""
    broker.handlers[code] = build_reply
    act()
    return [command for command in broker.asked if command.code == code]


def test_topics_in_a_list_and_alone(admin: AdminClient, broker: FakeBroker) -> None:
    wanted = DesiredConfig(CONFIG, FIFO)
    [listed] = sent(broker, lambda: admin.bulk.put_topics([(broker.addr, [wanted, wanted])]), 18)
    assert json.loads(listed.body) == {"topicConfigList": [{**CONFIG, "attributes": FIFO}] * 2}
    [alone] = sent(broker, lambda: admin.bulk.put_topics([(broker.addr, [wanted])]), 17)
    assert alone.ext == {
        "topic": "T", "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "8", "perm": "6",
        "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
        "attributes": "+message.type=FIFO,-old",
    }  # fmt: skip
    [plain] = sent(broker, lambda: admin.bulk.put_topics([(broker.addr, [DesiredConfig(CONFIG, {})])]), 17)[
        1:
    ]
    assert "attributes" not in (plain.ext or {})


def test_groups_in_a_list_and_alone(admin: AdminClient, broker: FakeBroker) -> None:
    wanted = DesiredConfig({"groupName": "g", "retryMaxTimes": 3}, {"+a": "1"})
    whole = {"groupName": "g", "retryMaxTimes": 3, "attributes": {"+a": "1"}}
    [listed] = sent(broker, lambda: admin.bulk.put_groups([(broker.addr, [wanted, wanted])]), 225)
    assert json.loads(listed.body) == {"groupConfigList": [whole, whole]}
    [alone] = sent(broker, lambda: admin.bulk.put_groups([(broker.addr, [wanted])]), 200)
    assert json.loads(alone.body) == whole


def test_a_broker_that_takes_no_lists(admin: AdminClient, broker: FakeBroker) -> None:
    wanted = DesiredConfig(CONFIG, {})
    [answer] = admin.bulk.put_topics([(broker.addr, [wanted, wanted])])
    assert isinstance(answer.error, NotSupported)


def test_deletes(admin: AdminClient, broker: FakeBroker, first_server: FakeNameServer) -> None:
    places = [(broker.addr, "T"), (broker.addr, "U")]
    assert [asked.ext for asked in sent(broker, lambda: admin.bulk.delete_topics(places), 215)] == [
        {"topic": "T"}, {"topic": "U"},
    ]  # fmt: skip
    [group] = sent(broker, lambda: admin.bulk.delete_groups([(broker.addr, "g")]), 207)
    assert group.ext == {"groupName": "g", "cleanOffset": "true", "removeOffset": "true"}
    admin.bulk.forget_topics([(first_server.addr, "T")], "C")
    assert first_server.routes == {"T": {}}


def test_values_are_written_and_deleted(admin: AdminClient, first_server: FakeNameServer) -> None:
    first_server.kv = {"N": {"old": "1"}}
    calls = [(first_server.addr, KvValue("N", "new", "")), (first_server.addr, KvValue("N", "old", None))]
    assert [answer.error for answer in admin.bulk.put_values(calls)] == [None, None]
    assert first_server.kv == {"N": {"new": ""}}


def test_who_may_only_read_writes_nothing(broker: FakeBroker) -> None:
    assert all(map(RequestCode.is_change, (18, 225)))
    with AdminClient("h:1", read_only=True) as admin, pytest.raises(ReadOnlyAccess):
        admin.bulk.put_topics([(broker.addr, [DesiredConfig(CONFIG, {})] * 2)])


def test_permissions_in_routes(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    first_server.routes = {"T": {"broker-a": 4}}
    second_server.handlers[105] = lambda asked: build_reply(asked, 1, remark="broken")
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        permission_result, broken = admin.bulk.get_topic_permissions(["T", "U"])
        assert permission_result.result == {"T": {"broker-a": 4}, "U": {}}
        assert isinstance(broken.error, RequestError)
        assert [permission.result for permission in admin.bulk.get_topic_permissions([])] == [{}, {}]


def test_queues_of_a_broker_that_a_topic_has_left(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    def old(asked: RemotingCommand) -> RemotingCommand:
        answer = build_reply(asked, body=b"{}")
        answer.version = 407
        return answer

    second_server.handlers[105] = old
    closing = QueueClosure("T", ("broker-a",))
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        answers: list[Any] = []
        places = [(second_server.addr, closing), (first_server.addr, closing)]
        [asked] = sent(first_server, lambda: answers.extend(admin.bulk.close_queues(places)), 217)
    assert asked.ext == {"topic": "T"}
    assert json.loads(asked.body) == {
        "queueDatas": [
            {"brokerName": "broker-a", "readQueueNums": 0, "writeQueueNums": 0, "perm": 0, "topicSysFlag": 0}
        ]
    }
    assert isinstance(answers[0].error, NotApplied)
    assert (answers[1].addr, answers[1].error, 217 in second_server.asked_codes()) == (
        first_server.addr,
        None,
        False,
    )
