"""What changed from one poll to the next, in words."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import NameServerPolled
from tests.support.screens import NOON, make_broker_poll, make_server_poll, make_silent_broker

A = "10.0.1.1:10911"


def said(*polls: object) -> list[tuple[str, str]]:
    model = ClusterModel()
    for poll in polls:
        model.apply_poll(poll)  # type: ignore[arg-type]
    return [(notice.event_kind, notice.description) for notice in model.notices]


def test_the_first_poll_changes_nothing() -> None:
    assert said(make_server_poll(settings={"a": "1"}), make_broker_poll(A)) == []


def test_brokers_that_come_and_go() -> None:
    assert said(
        make_server_poll(),
        make_server_poll(groups={"broker-a": {0: A, 1: "10.0.1.2:10911"}}),
        make_server_poll(groups={}),
        make_server_poll(),
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
    dead = [
        NameServerPolled(NOON + seconds_silent, "10.0.0.1:9876", error="closed")
        for seconds_silent in (1000, 2000)
    ]
    found = said(make_server_poll(), *dead, make_server_poll(at=NOON + 8000))
    assert found == [("NameServerSilent", "closed"), ("NameServerBack", "answers again after 7 s")]


def test_permissions_topics_settings_and_keys() -> None:
    many = tuple(f"t{number}" for number in range(5))
    assert said(
        make_server_poll(settings={"a": "1"}, kv={"NS": {"k": "v", "gone": "x"}}),
        make_server_poll(
            topics=("orders", *many),
            settings={"a": "2"},
            kv={"NS": {"k": "w", "n": "1"}},
            perms={"broker-a": 4},
        ),
        make_server_poll(topics=("orders", *many), settings={"a": "2"}, kv={"NS": {"k": "w", "n": "1"}}),
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
        make_server_poll(),
        make_broker_poll(A),
        make_silent_broker(A, NOON + 1000),
        make_silent_broker(A, NOON + 2000),
        make_broker_poll(A, NOON + 4000),
        make_broker_poll(A, NOON + 5000, bootTimestamp="1"),
    ) == [
        ("BrokerSilent", "broker-a 0: no answer within 1 s"),
        ("BrokerAnswers", "broker-a 0 answers again after 3 s"),
        ("BrokerRestarted", "broker-a 0 restarted"),
    ]
