"""Which topics and groups are read."""

from nsadmin.operations.exporter.name_filter import NameFilter


def test_everything_but_what_brokers_make_for_themselves() -> None:
    name_filter = NameFilter()
    assert name_filter.accepts_topic("orders")
    assert name_filter.accepts_group("warehouse")
    for topic in ("SCHEDULE_TOPIC_XXXX", "rmq_sys_x", "RMQ_SYS_TRANS_HALF_TOPIC", "broker-a"):
        assert not name_filter.accepts_topic(topic, ("C", "broker-a", "0"))
        assert NameFilter(shows_system=True).accepts_topic(topic, ("C", "broker-a", "0"))
    assert not name_filter.accepts_group("CID_RMQ_SYS_TRANS")


def test_patterns_of_topics_and_groups() -> None:
    name_filter = NameFilter(("orders*", "pay?"), ("*-test",))
    accepted = [
        name for name in ("orders", "orders-test", "pay1", "Orders") if name_filter.accepts_topic(name)
    ]
    assert accepted == ["orders", "pay1"]
    assert [name for name in ("orders-eu", "stock") if name_filter.accepts_group(name)] == ["orders-eu"]


def test_retry_and_dead_letter_topics_go_with_their_group() -> None:
    name_filter = NameFilter(("orders",))
    assert name_filter.accepts_topic("%RETRY%orders")
    assert name_filter.accepts_topic("%DLQ%orders")
    assert not name_filter.accepts_topic("%DLQ%stock")
