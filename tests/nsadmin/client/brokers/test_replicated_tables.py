"""Whole tables of brokers with their versions."""

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.brokers.replicated_tables import ReplicatedTable, TableVersion
from tests.support.fake_servers import FakeBroker

VERSION = b'"dataVersion":{"counter":3,"stateVersion":1,"timestamp":1700000000000}'


def test_a_table_has_its_items_and_its_version() -> None:
    with FakeBroker() as broker, AdminClient(["127.0.0.1:9"], timeout=5) as admin:
        broker.handlers[21] = lambda asked: build_reply(
            asked,
            body=b'{%s,"topicConfigTable":{"T":{"perm":6}},'
            b'"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":9}}' % VERSION,
        )
        broker.handlers[201] = lambda asked: build_reply(asked, body=b'{"subscriptionGroupTable":{"G":{}}}')
        broker.handlers[43] = lambda asked: build_reply(asked, body=b'{"offsetTable":{"T@G":{0:7,1:8}}}')
        tables = admin.replication.tables
        assert tables.get_topics([broker.addr])[0].result == ReplicatedTable(
            TableVersion(1, 1_700_000_000_000, 3), {"T": {"perm": 6}}, TableVersion(0, 9, 0)
        )
        assert tables.get_groups([broker.addr])[0].result == ReplicatedTable(None, {"G": {}})
        [offsets] = tables.get_offsets([broker.addr])
        assert offsets.result is not None
        assert {int(queue): offset for queue, offset in offsets.result.items["T@G"].items()} == {0: 7, 1: 8}


def test_a_body_that_is_no_table_is_an_error_of_that_broker() -> None:
    with FakeBroker() as broker, AdminClient(["127.0.0.1:9"], timeout=5) as admin:
        broker.handlers[21] = lambda asked: build_reply(asked, body=b'{"topicConfigTable":7}')
        [topics] = admin.replication.tables.get_topics([broker.addr])
    assert topics.result is None
    assert "malformed answer" in str(topics.error)
