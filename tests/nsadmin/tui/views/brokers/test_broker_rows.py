"""What is known of each broker process."""

from nsadmin.tui.polling.poll_records import NameServerPolled
from nsadmin.tui.views.brokers.broker_rows import list_broker_rows
from nsadmin.tui.views.table import Cell
from tests.nsadmin.tui.views.brokers.test_broker_table import BOTH, MASTER, SLAVE, cell, model_of
from tests.support.screens import NOON, make_broker_poll, make_server_poll, make_silent_broker


def test_rows_are_in_the_order_of_cluster_name_and_id() -> None:
    model = model_of(make_server_poll(groups={"broker-b": {0: "h:3"}, "broker-a": {1: SLAVE, 0: MASTER}}))
    row_fields = [
        (row.broker_name, row.broker_id, row.broker_addr, row.server_count, row.now_ms)
        for row in list_broker_rows(model)
    ]
    assert [fields[:3] for fields in row_fields] == [
        ("broker-a", 0, MASTER), ("broker-a", 1, SLAVE), ("broker-b", 0, "h:3")
    ]  # fmt: skip
    assert {fields[3:] for fields in row_fields} == {(1, model.now_ms)}


def test_the_last_word_of_a_silent_name_server_is_not_counted() -> None:
    other = make_server_poll("10.0.0.2:9876", groups={"broker-a": {0: MASTER}})
    model = model_of(make_server_poll(groups={"broker-a": {0: MASTER}}), other)
    model.apply_poll(NameServerPolled(NOON + 1000, "10.0.0.2:9876", error="closed"))
    model.apply_poll(make_server_poll(at=NOON + 2000, groups={}))
    [row] = list_broker_rows(model)
    assert (row.listing_count, row.server_count, row.broker.gone_since_ms) == (0, 1, None)
    assert cell(row, "listed") == Cell("0/1", "bad")


def test_what_a_slave_lacks_is_more_than_two_seconds_of_its_master() -> None:
    _, slave = list_broker_rows(
        model_of(BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE, commitLogMaxOffset="900000000"))
    )
    assert cell(slave, "replica") == Cell("95.4 MiB", "warn")


def test_nobody_knows_what_a_slave_lacks_while_one_of_them_is_silent() -> None:
    for polls in (
        (make_silent_broker(MASTER), make_broker_poll(SLAVE)),
        (make_broker_poll(MASTER), make_silent_broker(SLAVE)),
        (make_broker_poll(MASTER),),
    ):
        _, slave = list_broker_rows(model_of(BOTH, *polls))
        assert slave.missing_bytes is None
