"""What a cluster would be without a broker."""

import pytest

from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import NameServerFacts, ServerTopic, SlaveGap
from nsadmin.operations.drain.risks import (
    DrainRisk,
    describe_refusals,
    describe_slave_gap,
    find_master_addr,
    find_risks,
    find_slave_addrs,
    likely_source,
    list_left_out,
    queue_share,
)

RW, R = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
SYSTEM = frozenset({"TBW102"})


def server(**topics: ServerTopic) -> NameServerFacts:
    return NameServerFacts("h:1", None, "C", {0: "b:1", 1: "b:2"}, topics)


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (ServerTopic(RW, 8, 1), None),
        (ServerTopic(RW, 0, 1), "readOnly"),
        (ServerTopic(RW, 0, 0), "unwritable"),
        (ServerTopic(R, 0, 0), "masterless"),
        (ServerTopic(R, 0, 1), None),
        (ServerTopic(RW, 8, 1, "a:4;b:4"), "orderConf"),
        (ServerTopic(RW, 8, 1, "b:4"), None),
        (ServerTopic(RW, 8, 1, "a"), "orderConf"),
        (ServerTopic(RW, 8, 1, None, True), "static"),
    ],
)
def test_what_a_topic_would_lose(place: ServerTopic, kind: str | None) -> None:
    risks = find_risks("a", [server(T=place)], SYSTEM, frozenset(), False)
    assert [(risk.kind, risk.topics, risk.refuses) for risk in risks] == (
        [(kind, ("T",), True)] if kind else []
    )


def test_an_open_broker_that_an_order_configuration_leaves_out_is_named_with_the_command_that_adds_it() -> (
    None
):
    topics = {
        "T": ServerTopic(RW, 8, 1, "b:4"),
        "closed": ServerTopic(R, 8, 1, "b:4"),
        "named": ServerTopic(RW, 8, 1, "a:8"),
        "invalid": ServerTopic(RW, 8, 1, "b"),
    }
    assert list_left_out("a", [server(**topics)] * 2) == [
        "clients send no messages of T to a: the order configuration leaves it out; "
        "`nsadmin updateOrderConf T put 'b:4;a:8'` adds it"
    ]


def test_another_name_of_the_process_refuses_the_drain() -> None:
    renamed = server(T=ServerTopic(RW, 8, 1))._replace(other_names=("b",))
    [risk] = find_risks("a", [renamed, renamed], SYSTEM, frozenset(), False)
    assert (risk.kind, risk.refuses) == ("sameProcess", True)
    assert risk.text == "a and b are one process: clients continue to write to b"
    assert risk.remedy == "restart the name servers one by one to remove former names"


def test_topics_of_rocketmq_and_of_groups_are_where_their_broker_is() -> None:
    alone = ServerTopic(RW, 0, 0)
    topics = {"TBW102": alone, "rmq_sys_x": alone, "%RETRY%g": alone, "%DLQ%g": alone}
    assert (
        find_risks("a", [NameServerFacts("h:1", None, "C", {0: "b:1"}, topics)], SYSTEM, frozenset(), False)
        == ()
    )


def test_what_any_name_server_tells_counts_and_what_none_knows_does_not() -> None:
    silent = NameServerFacts("h:2", "no answer", "C", {0: "b:1"}, {"U": ServerTopic(RW)})
    risks = find_risks(
        "a",
        [server(T=ServerTopic(RW, 8, 1)), server(T=ServerTopic(RW, 0, 0)), silent],
        SYSTEM,
        frozenset(),
        False,
    )
    assert [(risk.text, risk.topics) for risk in risks] == [
        ("1 topic would be left without a writable queue (T)", ("T",))
    ]


def test_a_broker_that_may_not_write_refuses_ordered_messages() -> None:
    [risk] = find_risks("a", [server(T=ServerTopic(RW, 8, 1))], SYSTEM, frozenset({"T", "elsewhere"}), True)
    assert risk.text == "a would refuse the messages of 1 topic at once, because they are ordered (T)"
    assert risk.remedy == "omit --durable, or stop their producers first"


def test_its_share_is_of_what_can_be_written() -> None:
    assert (
        queue_share(
            [server(T=ServerTopic(RW, 24, 3), R=ServerTopic(R, 8, 1), TBW102=ServerTopic(RW))], SYSTEM
        )
        == 0.2
    )
    assert queue_share([NameServerFacts("h:1", "no")], SYSTEM) is None
    assert queue_share([server(R=ServerTopic(R))], SYSTEM) is None


def test_who_is_the_master_and_who_are_slaves() -> None:
    servers = [NameServerFacts("h:1", "no"), NameServerFacts("h:2", None, "C", {1: "b:2"}), server()]
    assert (find_master_addr(servers), find_slave_addrs(servers)) == ("b:1", {1: "b:2"})
    assert find_master_addr([NameServerFacts("h:2", None, "C", {1: "b:2"})]) is None


@pytest.mark.parametrize(
    ("topic", "delayed", "has_transactions", "source"),
    [
        ("T", 0, False, "clients"),
        ("T", 3, False, "clients, or 3 delayed messages that become visible"),
        ("T", 3, True, "clients, or 3 delayed messages that become visible and transactions"),
        ("%RETRY%g", 3, True, "retries of consumers"),
        ("%DLQ%g", 0, False, "dead letters"),
    ],
)
def test_where_messages_likely_come_from(
    topic: str, delayed: int, has_transactions: bool, source: str
) -> None:
    assert likely_source(topic, delayed, has_transactions) == source


def test_the_text_of_a_risk_names_the_first_topics() -> None:
    topics = {f"T{number}": ServerTopic(RW, 0, 0) for number in range(7)}
    [risk] = find_risks("a", [server(**topics)], SYSTEM, frozenset(), False)
    assert risk.text == ("7 topics would be left without a writable queue (T0, T1, T2, T3, T4 and 2 more)")
    assert len(risk.topics) == 7


@pytest.mark.parametrize(
    ("place", "has_peers", "text", "remedy"),
    [
        (
            ServerTopic(RW, 0, 0), True, "1 topic would be left without a writable queue (t;u)",
            "create it on all brokers of C with `nsadmin spread 't;u' -c C --plan even-a.yaml` and `nsadmin "
            "apply even-a.yaml` (the new queues stay there after the drain)",
        ),
        (
            ServerTopic(RW, 0, 0), False, "1 topic would be left without a writable queue (t;u)",
            "start another broker of C: `nsadmin check brokers` lists those that are down",
        ),
        (
            ServerTopic(RW, 0, 2, closed_names=("c", "b")), True,
            "1 topic would be left without a writable queue: b, c take no messages for it (t;u)",
            "`nsadmin route explain 't;u'` says why",
        ),
        (
            ServerTopic(R, 0, 0), True, "1 topic would be left without a master (t;u)",
            "start the masters of the other brokers: `nsadmin check brokers` lists those that are down",
        ),
        (
            ServerTopic(RW, 8, 1, "a:4"), True,
            "the order configuration of 1 topic names a: clients continue to send to it (t;u)",
            "remove a from the order configuration: `nsadmin updateOrderConf 't;u' get` shows it",
        ),
        (
            ServerTopic(RW, 8, 1, "b:4;a:4;c:8"), True,
            "the order configuration of 1 topic names a: clients continue to send to it (t;u)",
            "remove a from the order configuration: `nsadmin updateOrderConf 't;u' put 'b:4;c:8'`",
        ),
        (
            ServerTopic(RW, 8, 1, None, True), True,
            "1 topic with static queues on a: clients continue to send to it (t;u)",
            "move the queues to other brokers: see `nsadmin remappingStaticTopic --help`",
        ),
    ],
)  # fmt: skip
def test_a_refusal_says_what_makes_the_drain_safe(
    place: ServerTopic, has_peers: bool, text: str, remedy: str
) -> None:
    facts = server(**{"t;u": place})._replace(has_peers=has_peers)
    risks = find_risks("a", [facts], SYSTEM, frozenset(), False)
    assert describe_refusals(risks) == [f"{text}: {remedy}"]


def test_waiting_does_not_bring_users_and_acls_to_a_slave() -> None:
    risk = describe_slave_gap("a", SlaveGap(1, "s:1", ("group g", "user shop", "acl User:shop")))
    assert risk.remedy == (
        "slaves do not copy users and ACLs: run `nsadmin copyUser a a:1`, then `nsadmin copyAcl a a:1`"
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("orders",), "slave 1 at s:1 lacks 1 item of its master (orders)"),
        (tuple("abcdef"), "slave 1 at s:1 lacks 6 items of its master (a, b, c, d, e and 1 more)"),
    ],
)
def test_what_a_slave_lacks_refuses_the_drain(names: tuple[str, ...], text: str) -> None:
    assert describe_slave_gap("a", SlaveGap(1, "s:1", names)) == DrainRisk(
        "slave", text, names, True, "wait until `nsadmin check replicas` is OK"
    )
