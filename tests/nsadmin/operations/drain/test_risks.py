"""What a cluster would be without a broker."""

import pytest

from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import Place, Server
from nsadmin.operations.drain.risks import masters, risks, share, slaves, source_of

RW, R = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
SYSTEM = frozenset({"TBW102"})


def server(**topics: Place) -> Server:
    return Server("h:1", None, "C", {0: "b:1", 1: "b:2"}, topics)


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (Place(RW, 8, 1), None),
        (Place(RW, 0, 1), "unwritable"),
        (Place(RW, 0, 0), "unwritable"),
        (Place(R, 0, 0), "masterless"),
        (Place(R, 0, 1), None),
        (Place(RW, 8, 1, "a:4;b:4"), "orderConf"),
        (Place(RW, 8, 1, "b:4"), None),
        (Place(RW, 8, 1, "a"), "orderConf"),
        (Place(RW, 8, 1, None, True), "static"),
    ],
)
def test_what_a_topic_would_lose(place: Place, kind: str | None) -> None:
    found = risks("a", [server(T=place)], SYSTEM, frozenset(), False)
    assert [(risk.kind, risk.topics, risk.refuses) for risk in found] == (
        [(kind, ("T",), True)] if kind else []
    )


def test_topics_of_rocketmq_and_of_groups_are_where_their_broker_is() -> None:
    alone = Place(RW, 0, 0)
    topics = {"TBW102": alone, "rmq_sys_x": alone, "%RETRY%g": alone, "%DLQ%g": alone}
    assert risks("a", [Server("h:1", None, "C", {0: "b:1"}, topics)], SYSTEM, frozenset(), False) == ()


def test_what_any_name_server_tells_counts_and_what_none_knows_does_not() -> None:
    silent = Server("h:2", "no answer", "C", {0: "b:1"}, {"U": Place(RW)})
    found = risks(
        "a", [server(T=Place(RW, 8, 1)), server(T=Place(RW, 0, 1)), silent], SYSTEM, frozenset(), False
    )
    assert [(risk.text, risk.topics) for risk in found] == [
        ("1 topic would be left without a queue that clients can write to", ("T",))
    ]


def test_a_broker_that_may_not_write_refuses_ordered_messages() -> None:
    [found] = risks("a", [server(T=Place(RW, 8, 1))], SYSTEM, frozenset({"T", "elsewhere"}), True)
    assert found.text == "1 topic is ordered: the broker would refuse their messages at once"


def test_its_share_is_of_what_can_be_written() -> None:
    assert share([server(T=Place(RW, 24, 3), R=Place(R, 8, 1), TBW102=Place(RW))], SYSTEM) == 0.2
    assert share([Server("h:1", "no")], SYSTEM) is None
    assert share([server(R=Place(R))], SYSTEM) is None


def test_who_is_the_master_and_who_are_slaves() -> None:
    servers = [Server("h:1", "no"), Server("h:2", None, "C", {1: "b:2"}), server()]
    assert (masters(servers), slaves(servers)) == ("b:1", {1: "b:2"})
    assert masters([Server("h:2", None, "C", {1: "b:2"})]) is None


@pytest.mark.parametrize(
    ("topic", "delayed", "has_transactions", "source"),
    [
        ("T", 0, False, "clients"),
        ("T", 3, False, "clients, or 3 delayed messages are due"),
        ("T", 3, True, "clients, or 3 delayed messages are due and transactions"),
        ("%RETRY%g", 3, True, "retries of consumers"),
        ("%DLQ%g", 0, False, "dead letters"),
    ],
)
def test_where_messages_likely_come_from(
    topic: str, delayed: int, has_transactions: bool, source: str
) -> None:
    assert source_of(topic, delayed, has_transactions) == source
