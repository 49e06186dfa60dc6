"""Half messages for closing queues: those of an ended transaction are delivered already."""

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.client.messages.delayed_messages import HALF_TOPIC
from nsadmin.client.messages.transactions import ENDED_TOPIC
from nsadmin.operations.rebalance.pending_deliveries import count_undelivered
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import MessageBroker


def test_half_messages_of_the_topic_and_its_closing_queues_count(first_server: FakeNameServer) -> None:
    with MessageBroker() as broker, AdminClient(first_server.addr, timeout=5) as admin:
        broker.handlers[RequestCode.QUERY_CONSUMER_OFFSET] = refuse_with(22, "not found")
        broker.table.pop("timerReadBehind", None)
        for number, (topic, queue_id) in enumerate((("T", "3"), ("T", "3"), ("T", "0"), ("U", "3"))):
            key = f"k{number}"
            broker.store_message(topic=HALF_TOPIC, UNIQ_KEY=key, REAL_TOPIC=topic, REAL_QID=queue_id)
        broker.store_message(b"0,", ENDED_TOPIC, TAGS="d")
        closing, place = {"broker-a": range(2, 4)}, {"broker-a": broker.addr}
        assert count_undelivered(admin, "T", closing, place, 0) == 1
        broker.settings["transRocksDBEnable"] = "true"
        assert count_undelivered(admin, "T", closing, place, 0) is None
