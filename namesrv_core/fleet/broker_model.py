"""BrokerModel, the state of one simulated broker. Pure: the time is the argument `now`, in ms."""

import random
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from namesrv_core.fleet.groups import GroupTable
from namesrv_core.fleet.offsets import ConsumerOffsets
from namesrv_core.fleet.properties import BrokerProperties
from namesrv_core.fleet.topics import (
    DEFAULT_TOPIC,
    TopicConfigJson,
    TopicTable,
    make_system_topics,
    reserved_names,
)
from namesrv_core.fleet.traffic import BrokerTraffic
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import headers, registration_codec
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES, RETRY_PREFIX

_LONGEST_UPTIME_MS = 40 * 86_400_000
_AUTH_PACKAGE = "org.apache.rocketmq.auth"


class BrokerSpec(NamedTuple):
    """The definition of a broker: its identity, its topics besides the system topics, and their consumers.

    `heartbeat_timeout_millis` is the timeout that it registers; without one, name servers wait 120 s.
    Without `auto_create` it lacks the topic that producers use to find brokers that create topics.
    With `acting_master` the slave with the smallest id acts for a missing master.
    `load` multiplies the usual traffic.
    """

    cluster_name: str
    broker_name: str
    broker_id: int = MASTER_BROKER_ID
    topic_configs: tuple[TopicConfigJson, ...] = ()
    groups_by_topic: Mapping[str, tuple[str, ...]] = {}
    traffic_seed: int = 0
    heartbeat_timeout_millis: int | None = None
    acting_master: bool = False
    traffic_factor: float = 1
    auto_create: bool = True

    @property
    def is_master(self) -> bool:
        return self.broker_id == MASTER_BROKER_ID

    @property
    def produced_queues(self) -> dict[str, int]:
        """The write queues of the topics that have producers."""
        return {
            config["topicName"]: config["writeQueueNums"]
            for config in self.topic_configs
            if config["writeQueueNums"] and not config["topicName"].startswith(GROUP_TOPIC_PREFIXES)
        }


PeerModels = dict[tuple[str, int], "BrokerModel"]
"""The brokers of a fleet by name and id, because clients and replication involve several brokers."""


class BrokerModel:
    """The state of a broker at `broker_addr`, which restarts with the messages of `previous`.

    Without that it claims an early start time, so that it has a history.
    """

    def __init__(
        self,
        spec: BrokerSpec,
        broker_addr: str,
        namesrv_addrs: Iterable[str],
        now_ms: int,
        previous: "BrokerModel | None" = None,
    ) -> None:
        self.spec = spec
        self.broker_addr = broker_addr
        self.namesrv_addrs = tuple(namesrv_addrs)
        self.started_at_ms = now_ms
        topics = make_system_topics(spec.cluster_name, spec.broker_name)
        if not spec.auto_create:
            topics = [config for config in topics if config["topicName"] != DEFAULT_TOPIC]
        if spec.is_master:
            topics += spec.topic_configs
        names = reserved_names(spec.cluster_name, spec.broker_name)
        self.topic_table = TopicTable(topics, names, now_ms)
        self.traffic: BrokerTraffic
        if previous is not None:
            self.traffic = previous.traffic
            self.traffic.restart(now_ms)
        else:
            uptime_ms = random.Random(f"uptime {spec.traffic_seed}").randrange(_LONGEST_UPTIME_MS)
            self.traffic = BrokerTraffic(
                spec.traffic_seed,
                now_ms - uptime_ms,
                is_master=spec.is_master,
                traffic_factor=spec.traffic_factor,
            )
        self.offsets = ConsumerOffsets(
            self.traffic,
            spec.produced_queues,
            _readers_by_topic(spec),
        )
        self.group_table = GroupTable(
            {group for groups in spec.groups_by_topic.values() for group in groups}, now_ms
        )
        self.user_table = UserTable()
        self.properties = BrokerProperties(self._list_own_properties(), now_ms)
        self.consume_modes: dict[str, dict[str, TopicConfigJson]] = {}
        self.cold_thresholds: dict[str, int] = {}
        self.master_flush_offset: int | None = None
        self.peer_models: PeerModels = {(spec.broker_name, spec.broker_id): self}

    def read_queue_count(self, topic: str) -> int:
        config = self.topic_table.configs.get(topic)
        return 0 if config is None else int(config["readQueueNums"])

    def put_topic(self, config: TopicConfigJson, now_ms: int) -> bool:
        """Create or replace a topic. Groups keep their offsets of queues that it loses."""
        topic = config["topicName"]
        queue_count = self.read_queue_count(topic)
        for group in self.offsets.groups_of_topic(topic):
            for queue_id in range(config["readQueueNums"], queue_count):
                offset = self.offsets.committed_offset((group, topic, queue_id), queue_count, now_ms)
                if offset is not None:
                    self.offsets.move_offset((group, topic, queue_id), offset, now_ms)
        return self.topic_table.put_config(config, now_ms)

    def allow_writes(self, now_ms: int, is_allowed: bool) -> None:
        """Let producers write from now on, or not. Slaves then catch up with their master."""
        if is_allowed is not self.traffic.is_paused:
            return
        if is_allowed:
            self.traffic.resume_writes(now_ms)
        else:
            self.traffic.pause_writes(now_ms)
        for slave in self._slaves():
            slave.traffic.follow_master(self.traffic)

    def _slaves(self) -> Iterator["BrokerModel"]:
        for (broker_name, broker_id), peer in self.peer_models.items():
            if broker_name == self.spec.broker_name and broker_id != self.spec.broker_id:
                yield peer

    def follow_routes(self, now_ms: int) -> list[str]:
        """Let clients write to and read the queues that topics with producers have now. Return the topics."""
        peers = self.peer_models.values()
        produced = set().union(*(peer.spec.produced_queues for peer in peers))
        queue_counts = {
            topic: config["writeQueueNums"]
            for topic, config in self.topic_table.configs.items()
            if topic in produced and config["perm"] & Perm.WRITE and config["writeQueueNums"]
        }
        for topic in queue_counts.keys() - self.offsets.readers_by_topic.keys():
            readers = (peer.offsets.readers_by_topic.get(topic, ()) for peer in peers)
            self.offsets.add_readers(topic, next(filter(None, readers), ()))
        self.offsets.write_to(queue_counts, now_ms)
        for slave in self._slaves():
            slave.offsets.follow_master(self.offsets)
        return list(queue_counts)

    @property
    def ha_server_addr(self) -> str:
        """The replication address: the next port, as upstream by default. The port is not open."""
        host, _, port = self.broker_addr.rpartition(":")
        return f"{host}:{int(port) + 1}"

    def _list_own_properties(self) -> dict[str, object]:
        host, _, port = self.broker_addr.rpartition(":")
        store_path = f"/home/rocketmq/store-{self.spec.broker_name}-{self.spec.broker_id}"
        return {
            # A broker without these settings keeps no users and no ACLs.
            "authenticationMetadataProvider": (
                f"{_AUTH_PACKAGE}.authentication.provider.LocalAuthenticationMetadataProvider"
            ),
            "authorizationMetadataProvider": (
                f"{_AUTH_PACKAGE}.authorization.provider.LocalAuthorizationMetadataProvider"
            ),
            "autoCreateTopicEnable": str(self.spec.auto_create).lower(),
            "brokerClusterName": self.spec.cluster_name,
            "brokerName": self.spec.broker_name,
            "brokerId": self.spec.broker_id,
            "brokerRole": "ASYNC_MASTER" if self.spec.is_master else "SLAVE",
            "enableSlaveActingMaster": str(self.spec.acting_master).lower(),
            "brokerIP1": host,
            "brokerIP2": host,
            "listenPort": port,
            "haListenPort": int(port) + 1,
            "namesrvAddr": ";".join(self.namesrv_addrs),
            "registerNameServerPeriod": 30000,
            "rocketmqHome": "/opt/rocketmq",
            "storePathRootDir": store_path,
            "storePathCommitLog": f"{store_path}/commitlog",
        }

    def encode_registration(self, topic_names: Iterable[str] | None = None) -> tuple[dict[str, str], bytes]:
        """Ext fields and body of REGISTER_BROKER for all topics, or only for `names` (incremental)."""
        configs = self.topic_table.configs
        chosen = configs if topic_names is None else {t: configs[t] for t in topic_names if t in configs}
        body = registration_codec.encode_registration(
            self.topic_table.data_version, self._restrict_permissions(chosen)
        )
        header = headers.RegisterBroker(
            self.spec.broker_name,
            self.broker_addr,
            self.spec.cluster_name,
            self.ha_server_addr,
            self.spec.broker_id,
            compressed=False,
            body_crc32=zlib.crc32(body) & 0x7FFFFFFF,
            heartbeat_timeout_millis=self.spec.heartbeat_timeout_millis,
            enable_acting_master=self.spec.acting_master,
        )
        return headers.write_header(header), body

    def _restrict_permissions(self, configs: Mapping[str, TopicConfigJson]) -> Mapping[str, TopicConfigJson]:
        """Apply brokerPermission: a broker without write or read permission registers topics without it."""
        perm = self.properties.broker_permission
        if perm & 6 == 6:
            return configs
        return {topic: {**config, "perm": config["perm"] & perm} for topic, config in configs.items()}

    def build_unregistration(self) -> RemotingCommand:
        identity = headers.BrokerIdentity(
            self.spec.broker_name, self.broker_addr, self.spec.cluster_name, self.spec.broker_id
        )
        return build_request(RequestCode.UNREGISTER_BROKER, headers.write_header(identity))


def _readers_by_topic(spec: BrokerSpec) -> dict[str, tuple[str, ...]]:
    """The groups by topic, including each group's retry topic if the broker has it."""
    topics = {config["topicName"] for config in spec.topic_configs}
    groups = {group for groups in spec.groups_by_topic.values() for group in groups}
    readers = {f"{RETRY_PREFIX}{group}": (group,) for group in groups if f"{RETRY_PREFIX}{group}" in topics}
    return {**spec.groups_by_topic, **readers}
