"""What the check of writable topics reads from name servers and brokers."""

from nsadmin import AdminClient
from nsadmin.operations.checks import writable_topics_observation
from tests.support.configured_topics import configure_topics
from tests.support.fake_servers import FakeBroker, FakeNameServer


def test_it_has_what_brokers_configure_as_read_only_and_who_is_silent(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    configure_topics(broker)
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4, "broker-b": 6}}
    with AdminClient([first_server.addr], timeout=5) as admin:
        observation = writable_topics_observation.observe_writable_topics(admin)
    assert observation.read_only_topics == {"broker-a": {"T"}}
    assert observation.unwiped_brokers == {first_server.addr: {"broker-b"}}
    assert observation.master_answers.silence_reasons.keys() == {dead_addr}
