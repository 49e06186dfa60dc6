"""Records of popped messages: who keeps them, and the order to move them."""

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from tests.support.fake_servers import closed_port
from tests.support.topic_brokers import TopicBroker


def test_who_keeps_records_and_who_moved_them() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker() as broker, TopicBroker() as plain, AdminClient("h:1", timeout=5) as admin:
        broker.items["popConsumerKVServiceInit"] = "true"
        broker.handlers[200056] = build_reply
        kept = admin.pop_records.check_enabled([broker.addr, plain.addr, dead])
        assert [(item.result, item.error is None) for item in kept] == [
            (True, True),
            (False, True),
            (None, False),
        ]
        moved = admin.pop_records.move_to_message_store([broker.addr, plain.addr])
        assert [(item.result, item.error is None) for item in moved] == [(True, True), (None, False)]
