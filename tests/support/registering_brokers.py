"""A broker that tells all that it registers with, as plain tables that a test fills."""

from typing import Any

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.support.fake_servers import answer_json
from tests.support.topic_brokers import TopicBroker, topic_config

ITEMS = {
    "brokerClusterName": "C",
    "brokerIP1": "10.0.0.1",
    "brokerIP2": "10.0.9.1",
    "listenPort": "10911",
    "haListenPort": "10912",
    "namesrvAddr": "a:9876; b:9876",
}


class RegisteringBroker(TopicBroker):
    """A TopicBroker that lists all its topics; `version` is what its list of topics carries."""

    def __init__(self, *topics: dict[str, Any], name: str = "broker-a") -> None:
        super().__init__(*topics or (topic_config("T"),), name=name)
        self.version = 513
        self.mappings: dict[str, Any] = {}
        self.groups: dict[str, Any] = {}
        self.items |= ITEMS
        self.handlers[RequestCode.GET_ALL_TOPIC_CONFIG] = self._all
        self.handlers[RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG] = lambda asked: answer_json(
            asked, {"subscriptionGroupTable": self.groups}
        )

    def _all(self, asked: RemotingCommand) -> RemotingCommand:
        table = {"dataVersion": {"counter": 2}, "topicConfigTable": self.configs}
        answer = answer_json(asked, table | {"topicQueueMappingDetailMap": self.mappings})
        answer.version = self.version
        return answer
