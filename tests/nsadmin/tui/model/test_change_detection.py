"""What changed from one poll to the next, in words."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import NameServerPolled
from tests.support.screens import NOON, broker, server, silent

A = "10.0.1.1:10911"


def said(*polls: object) -> list[tuple[str, str]]:
    model = ClusterModel()
    for poll in polls:
        model.apply_poll(poll)  # type: ignore[arg-type]
    return [(notice.event_kind, notice.description) for notice in model.notices]


def test_the_first_poll_changes_nothing() -> None:
    assert said(server(settings={"a": "1"}), broker(A)) == []


def test_brokers_that_come_and_go() -> None:
    assert said(
        server(), server(groups={"broker-a": {0: A, 1: "10.0.1.2:10911"}}), server(groups={}), server()
    ) == [
        ("BrokerRegistered", "new: broker-a 1=10.0.1.2:10911"),
        ("BrokerUnregistered", "gone: broker-a 0=10.0.1.1:10911"),
        ("BrokerUnregistered", "gone: broker-a 1=10.0.1.2:10911"),
        ("BrokerGone", "no name server lists broker-a 0"),
        ("BrokerGone", "no name server lists broker-a 1"),
        ("BrokerRegistered", "new: broker-a 0=10.0.1.1:10911"),
        ("BrokerBack", "broker-a 0 is listed again"),
    ]


def test_a_name_server_that_falls_silent_is_told_of_once() -> None:
    dead = [NameServerPolled(NOON + each, "10.0.0.1:9876", error="closed") for each in (1000, 2000)]
    assert said(server(), *dead, server(at=NOON + 8000)) == [
        ("NameServerSilent", "closed"),
        ("NameServerBack", "answers again after 7 s"),
    ]


def test_permissions_topics_settings_and_keys() -> None:
    many = tuple(f"t{number}" for number in range(5))
    assert said(
        server(settings={"a": "1"}, kv={"NS": {"k": "v", "gone": "x"}}),
        server(
            topics=("orders", *many),
            settings={"a": "2"},
            kv={"NS": {"k": "w", "n": "1"}},
            perms={"broker-a": 4},
        ),
        server(topics=("orders", *many), settings={"a": "2"}, kv={"NS": {"k": "w", "n": "1"}}),
    ) == [
        ("WritePermWiped", "broker-a lost the write permission"),
        ("TopicsChanged", "new: t0, t1, t2 and 2 more"),
        ("TopicsChanged", "gone: payments"),
        ("SettingsChanged", "a: 1 -> 2"),
        ("KvChanged", "NS gone: gone: x"),
        ("KvChanged", "NS k: v -> w"),
        ("KvChanged", "NS n: new: 1"),
        ("WritePermAdded", "broker-a has write permission again"),
    ]


def test_a_broker_that_falls_silent_answers_again_and_was_started_anew() -> None:
    assert said(
        server(),
        broker(A),
        silent(A, NOON + 1000),
        silent(A, NOON + 2000),
        broker(A, NOON + 4000),
        broker(A, NOON + 5000, bootTimestamp="1"),
    ) == [
        ("BrokerSilent", "broker-a 0: no answer within 1 s"),
        ("BrokerAnswers", "broker-a 0 answers again after 3 s"),
        ("BrokerRestarted", "broker-a 0 restarted"),
    ]
