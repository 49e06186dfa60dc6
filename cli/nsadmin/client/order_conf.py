"""Order configuration: on which brokers a topic's ordered messages go to how many queues, kept as KV config.

Clients get it with the route, but only of name servers whose orderMessageEnable is true.
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
    """ "broker-a:4;broker-b:8" as broker name to number of queues; ValueError for what is none."""
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
    return ";".join(f"{broker}:{queues}" for broker, queues in conf.items())


class OrderConfs:
    """`admin.order_confs`; QueryNotFound is the error where a topic has none."""

    def __init__(self, kv: Kv, name_servers: NameServerConfigs) -> None:
        self._kv = kv
        self._name_servers = name_servers

    def all(self) -> dict[str, str]:
        """Every topic's entry on the first name server that has any, in the order of topics; {} for none."""
        try:
            return self._kv.entries(NAMESPACE)
        except QueryNotFound:
            return {}

    def each(self, topic: str) -> list[ServerResult[str]]:
        """The topic's entry on every name server."""
        return self._kv.get_each(NAMESPACE, topic)

    def put(self, topic: str, conf: str) -> list[ServerResult[str]]:
        """Replace it on every name server."""
        return self._kv.put(NAMESPACE, topic, conf)

    def delete(self, topic: str) -> list[ServerResult[str]]:
        """Delete it on every name server: what was there."""
        return self._kv.delete(NAMESPACE, topic)

    def merged(self, topic: str, queues: Mapping[str, int]) -> str:
        """The entry with these brokers changed or added; other brokers stay as the first server has them."""
        found = next((conf.result for conf in self.each(topic) if conf.result), None)
        try:
            present = parse(found) if found else {}
        except ValueError:
            present = {}
        return text_of(present | dict(queues))

    def unused_on(self) -> list[str]:
        """The name servers that do not give it to clients."""
        return [
            addr
            for addr, config, _ in self._name_servers.config_each()
            if config is not None and config.get("orderMessageEnable") != "true"
        ]
