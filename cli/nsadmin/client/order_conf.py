"""`admin.order_confs`: order configurations, which give the number of queues per broker for ordered messages.

Name servers store them in the KV config. They add them to routes only with orderMessageEnable=true.
"""

import re
from collections.abc import Mapping

from namesrv_core.errors import QueryNotFound
from nsadmin.client.kv import Kv
from nsadmin.client.name_servers import NameServerConfigs
from nsadmin.client.results import ServerResult

NAMESPACE = "ORDER_TOPIC_CONFIG"

_ENTRY = re.compile(r"([^:;\s]+):(\d{1,9})")


def parse(text: str) -> dict[str, int]:
    """Parse "broker-a:4;broker-b:8".

    Returns:
        Broker name to number of queues.

    Raises:
        ValueError: The text is not an order configuration.
    """
    conf: dict[str, int] = {}
    for entry in filter(None, text.split(";")):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise ValueError(f"{entry!r} is no entry: write BROKER:QUEUES;BROKER:QUEUES")
        if match[1] in conf:
            raise ValueError(f"{match[1]!r} is there twice")
        conf[match[1]] = int(match[2])
    if not conf:
        raise ValueError("there is no entry: write BROKER:QUEUES;BROKER:QUEUES")
    return conf


def text_of(conf: Mapping[str, int]) -> str:
    """Return "broker-a:4;broker-b:8" for a map from broker name to number of queues."""
    return ";".join(f"{broker}:{queues}" for broker, queues in conf.items())


class OrderConfs:
    """`admin.order_confs`: order configurations of topics. The error for a missing one is QueryNotFound."""

    def __init__(self, kv: Kv, name_servers: NameServerConfigs) -> None:
        self._kv = kv
        self._name_servers = name_servers

    def all(self) -> dict[str, str]:
        """Return all order configurations of the first name server that has any (219).

        Returns:
            Topic to text, in the order of topics; {} if no name server has any.
        """
        try:
            return self._kv.entries(NAMESPACE)
        except QueryNotFound:
            return {}

    def each(self, topic: str) -> list[ServerResult[str]]:
        """Return the order configuration of a topic from every name server (GET_KV_CONFIG, 101)."""
        return self._kv.get_each(NAMESPACE, topic)

    def put(self, topic: str, conf: str) -> list[ServerResult[str]]:
        """Write the order configuration of a topic on every name server (PUT_KV_CONFIG, 100).

        Returns:
            One ServerResult per name server: the written text.
        """
        return self._kv.put(NAMESPACE, topic, conf)

    def delete(self, topic: str) -> list[ServerResult[str]]:
        """Delete the order configuration of a topic on every name server (DELETE_KV_CONFIG, 102).

        Returns:
            One ServerResult per name server: the text before.
        """
        return self._kv.delete(NAMESPACE, topic)

    def merged(self, topic: str, queues: Mapping[str, int]) -> str:
        """Return the order configuration of a topic with changed or added brokers. Change nothing.

        Args:
            topic: The topic.
            queues_by_broker: Broker name to number of queues. Other brokers stay as on the first name server
                that has the topic's configuration.
        """
        found = next((conf.result for conf in self.each(topic) if conf.result), None)
        try:
            present = parse(found) if found else {}
        except ValueError:
            present = {}
        return text_of(present | dict(queues))

    def unused_on(self) -> list[str]:
        """Return the name servers that do not add order configurations to routes (319)."""
        return [
            addr
            for addr, config, _ in self._name_servers.config_each()
            if config is not None and config.get("orderMessageEnable") != "true"
        ]
