"""What the check of writable topics reads from name servers and brokers."""

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.operations.checks import writable_topics_observation
from tests.support.servers import FakeBroker, FakeNameServer, body


def test_it_has_what_brokers_configure_as_read_only_and_who_is_silent(
    first: FakeNameServer, broker: FakeBroker, gone: str
) -> None:
    config = (
        f"brokerName=broker-a\nbrokerIP1=127.0.0.1\nlistenPort={broker.port}\nbrokerClusterName=C\n"
        "brokerId=0\nhaListenPort=1\n"
    )

    def topics(asked: RemotingCommand) -> RemotingCommand:
        return body(asked, {"topicConfigTable": {"T": {"perm": 4}, "U": {"perm": 6}}})

    broker.handlers[RequestCode.GET_BROKER_CONFIG] = lambda asked: build_reply(asked, body=config.encode())
    broker.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = topics
    first.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: gone}}}
    first.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4, "broker-b": 6}}
    with AdminClient([first.addr], timeout=5) as admin:
        observation = writable_topics_observation.observe_writable_topics(admin)
    assert observation.read_only_topics == {"broker-a": {"T"}}
    assert observation.unwiped_brokers == {first.addr: {"broker-b"}}
    assert observation.silence_reasons.keys() == {gone}


def test_retry_topics_and_those_of_rocketmq_are_no_user_topics() -> None:
    system_topics = frozenset({"TBW102"})
    names = ("orders", "%RETRY%g", "%DLQ%g", "TBW102", "rmq_sys_x", "RMQ_SYS_y")
    assert [name for name in names if writable_topics_observation.is_user_topic(name, system_topics)] == [
        "orders"
    ]
