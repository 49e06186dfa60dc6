"""Orders to brokers about their files."""

from nsadmin import AdminClient
from tests.support.servers import closed_port
from tests.support.topic_brokers import TopicBroker


def test_each_broker_gets_the_order_and_a_dead_one_is_told() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        for order, code in (
            (admin.upkeep.clean_unused_topics, 316),
            (admin.upkeep.clean_expired_consume_queues, 306),
        ):
            first, second = order([broker.addr, dead])
            assert (first.result, first.error, broker.codes()[-1]) == (True, None, code)
            assert second.error is not None
