"""`admin.order_confs`: order configurations, which give the number of queues per broker for ordered messages.

Name servers store them in the KV config. They add them to routes only with orderMessageEnable=true.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from namesrv_core.errors import QueryNotFound
from nsadmin.client.name_servers.kv_config import KvAdmin, KvChange
from nsadmin.client.name_servers.name_server_configs import NameServerAdmin
from nsadmin.client.results import ServerResult

ORDER_CONF_NAMESPACE = "ORDER_TOPIC_CONFIG"

_FORM = "give each broker a number of queues, as in broker-a-0:8;broker-a-1:8"
_ENTRY_PATTERN = re.compile(r"([^:;\s]+):(\d{1,9})")


def parse_order_conf(conf_text: str) -> dict[str, int]:
    """Parse "broker-a:4;broker-b:8"."""
    queues_by_broker: dict[str, int] = {}
    for conf_entry in filter(None, conf_text.split(";")):
        entry_match = _ENTRY_PATTERN.fullmatch(conf_entry)
        if entry_match is None:
            raise ValueError(f'invalid entry "{conf_entry}": {_FORM}')
        if entry_match[1] in queues_by_broker:
            raise ValueError(f'duplicate broker "{entry_match[1]}"')
        queues_by_broker[entry_match[1]] = int(entry_match[2])
    if not queues_by_broker:
        raise ValueError(f"no entry: {_FORM}")
    return queues_by_broker


def format_order_conf(queues_by_broker: Mapping[str, int]) -> str:
    """Return "broker-a:4;broker-b:8" for a map from broker name to number of queues."""
    return ";".join(f"{broker_name}:{queue_count}" for broker_name, queue_count in queues_by_broker.items())


def remove_from_conf(conf_text: str, broker_names: Collection[str]) -> str:
    """Return the text without these brokers; "" if it names no other one. Raises ValueError."""
    return format_order_conf(
        {name: c for name, c in parse_order_conf(conf_text).items() if name not in broker_names}
    )


class OrderConfs:
    """`admin.order_confs`: order configurations of topics. The error for a missing one is QueryNotFound."""

    def __init__(self, kv: KvAdmin, name_servers: NameServerAdmin) -> None:
        self._kv, self._name_servers = kv, name_servers

    def list_all(self) -> dict[str, str]:
        """Return all order configurations of the first name server that has any (219).

        Returns:
            Topic to text, in the order of topics; {} if no name server has any.
        """
        try:
            return self._kv.get_entries(ORDER_CONF_NAMESPACE)
        except QueryNotFound:
            return {}

    def get_each(self, topic: str) -> list[ServerResult[str]]:
        """Return the order configuration of a topic from every name server (GET_KV_CONFIG, 101).

        Args:
            topic: The topic.

        Returns:
            One ServerResult per name server: the text. The error is QueryNotFound without a configuration.
        """
        return self._kv.get_value_each(ORDER_CONF_NAMESPACE, topic)

    def put_conf(self, topic: str, conf_text: str) -> list[ServerResult[str]]:
        """Write the order configuration of a topic on every name server (PUT_KV_CONFIG, 100).

        Args:
            topic: The topic.
            conf_text: The text, such as "broker-a:4;broker-b:8". It is not checked.

        Returns:
            One ServerResult per name server: the written text.
        """
        return self._kv.put_value(ORDER_CONF_NAMESPACE, topic, conf_text)

    def delete_conf(self, topic: str) -> list[ServerResult[str]]:
        """Delete the order configuration of a topic on every name server (DELETE_KV_CONFIG, 102).

        Args:
            topic: The topic.

        Returns:
            One ServerResult per name server: the text before. The error is QueryNotFound without a
            configuration.
        """
        return self._kv.delete_key(ORDER_CONF_NAMESPACE, topic)

    def merge_conf(self, topic: str, queues_by_broker: Mapping[str, int]) -> str:
        """Return the order configuration of a topic with changed or added brokers. Change nothing.

        Args:
            topic: The topic.
            queues_by_broker: Broker name to number of queues. Other brokers stay as on the first name server
                that has the topic's settings.

        Returns:
            The text. If a broker is added, those of `queues_by_broker` come last, in their order. If the
            current text is invalid, it has only these brokers.
        """
        current_text = next((r.result for r in self.get_each(topic) if r.result), None)
        try:
            current_queues = parse_order_conf(current_text) if current_text else {}
        except ValueError:
            current_queues = {}
        if not queues_by_broker.keys() <= current_queues.keys():
            # Clients choose the queue of a key by its place: a part that came first must not stay first.
            current_queues = {n: q for n, q in current_queues.items() if n not in queues_by_broker}
        return format_order_conf(current_queues | dict(queues_by_broker))

    def plan_removal(self, topic: str, broker_names: Collection[str]) -> list[KvChange]:
        """Plan to remove brokers from the order configuration of a topic. Change nothing.

        Args:
            topic: The topic.
            broker_names: The brokers to remove.

        Returns:
            One KvChange per name server whose configuration names one of the brokers; it deletes a
            configuration that would name none. An invalid configuration stays.
        """
        planned_changes = []
        for addr, conf_text, _ in self.get_each(topic):
            try:
                conf_after = remove_from_conf(conf_text or "", broker_names)
                is_change = conf_after != remove_from_conf(conf_text or "", ())
            except ValueError:
                continue
            if is_change:
                planned_changes.append(
                    KvChange(addr, ORDER_CONF_NAMESPACE, topic, conf_text, conf_after or None)
                )
        return planned_changes

    def apply_removal(self, planned_changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Apply the changes of `plan_removal`, and read them back; see `KvAdmin.apply_changes`.

        Args:
            planned_changes: The changes.

        Returns:
            One ServerResult per change, in order.
        """
        return self._kv.apply_changes(planned_changes)

    def find_servers_without(self) -> list[str]:
        """Return the name servers that do not add order configurations to routes (319)."""
        return [
            namesrv_addr
            for namesrv_addr, config, _ in self._name_servers.get_config_each()
            if config is not None and config.get("orderMessageEnable") != "true"
        ]
