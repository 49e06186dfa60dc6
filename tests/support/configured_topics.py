"""A fake broker that makes one of its topics read-only."""

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import FakeBroker, answer_json


def configure_topics(broker: FakeBroker) -> None:
    """Make the broker answer as the master broker-a of cluster C, where T is read-only and U is not."""
    config = (
        f"brokerName=broker-a\nbrokerIP1=127.0.0.1\nlistenPort={broker.port}\nbrokerClusterName=C\n"
        "brokerId=0\nhaListenPort=1\n"
    )

    def topics(asked: RemotingCommand) -> RemotingCommand:
        return answer_json(asked, {"topicConfigTable": {"T": {"perm": 4}, "U": {"perm": 6}}})

    broker.handlers[RequestCode.GET_BROKER_CONFIG] = lambda asked: build_reply(asked, body=config.encode())
    broker.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = topics
