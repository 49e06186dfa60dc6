"""BrokerModel: all that one simulated broker knows of itself. Pure: time arrives as `now`, in ms."""

import random
import zlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.fleet.groups import GroupTable
from namesrv_core.fleet.offsets import Offsets
from namesrv_core.fleet.properties import Properties
from namesrv_core.fleet.topics import (
    DEFAULT_TOPIC,
    RETRY_PREFIX,
    Config,
    TopicTable,
    reserved_names,
    system_topics,
)
from namesrv_core.fleet.traffic import Traffic
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import headers, registration
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import Command, request

_LONGEST_UPTIME = 40 * 86_400_000


class BrokerSpec(NamedTuple):
    """What a broker is to be: who it is, the topics it starts with beside the system's, who consumes them.

    `heartbeat_timeout_millis` is how long it asks name servers to wait for it; unsaid, they wait 120 s.
    Unless `auto_create` it lacks the topic by which producers find who creates topics.
    With `acting_master` the slave with the smallest id stands in for a master that is gone.
    `load` multiplies the traffic that is usual.
    """

    cluster_name: str
    broker_name: str
    broker_id: int = MASTER_ID
    topics: tuple[Config, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = {}
    seed: int = 0
    heartbeat_timeout_millis: int | None = None
    acting_master: bool = False
    load: float = 1
    auto_create: bool = True

    @property
    def is_master(self) -> bool:
        return self.broker_id == MASTER_ID


Peers = dict[tuple[str, int], "BrokerModel"]
"""The brokers of a fleet by name and id: clients and replication know more than one of them."""


class BrokerModel:
    """`broker_addr` is where it listens; it claims to be up since long ago, so that it has a past."""

    def __init__(self, spec: BrokerSpec, broker_addr: str, name_servers: Iterable[str], now: int) -> None:
        self.spec = spec
        self.broker_addr = broker_addr
        self.name_servers = tuple(name_servers)
        self.started = now
        self.topics = TopicTable(
            [*_system_topics(spec), *(spec.topics if spec.is_master else ())],
            reserved_names(spec.cluster_name, spec.broker_name),
            now,
        )
        uptime = random.Random(f"uptime {spec.seed}").randrange(_LONGEST_UPTIME)
        self.traffic = Traffic(spec.seed, now - uptime, is_master=spec.is_master, load=spec.load)
        self.offsets = Offsets(self.traffic, [c["topicName"] for c in spec.topics], _readers(spec))
        self.groups = GroupTable({group for groups in spec.groups.values() for group in groups}, now)
        self.users = UserTable()
        self.properties = Properties(self._own_properties(), now)
        self.modes: dict[str, dict[str, Config]] = {}
        self.cold_thresholds: dict[str, int] = {}
        self.master_flush_offset: int | None = None
        self.peers: Peers = {(spec.broker_name, spec.broker_id): self}

    def queues(self, topic: str) -> int:
        """How many queues of the topic can be read here."""
        config = self.topics.configs.get(topic)
        return 0 if config is None else int(config["readQueueNums"])

    def write(self, now: int, is_allowed: bool) -> None:
        """Producers write from now on, or not; then slaves come to have all that their master has."""
        if is_allowed is not self.traffic.is_paused:
            return
        if is_allowed:
            self.traffic.resume(now)
        else:
            self.traffic.pause(now)
        for (name, broker_id), model in self.peers.items():
            if name == self.spec.broker_name and broker_id != self.spec.broker_id:
                model.traffic.follow(self.traffic)

    @property
    def ha_server_addr(self) -> str:
        """The next port, as upstream has it by default; nothing listens there."""
        host, _, port = self.broker_addr.rpartition(":")
        return f"{host}:{int(port) + 1}"

    def _own_properties(self) -> dict[str, object]:
        host, _, port = self.broker_addr.rpartition(":")
        store = f"/home/rocketmq/store-{self.spec.broker_name}-{self.spec.broker_id}"
        return {
            "autoCreateTopicEnable": str(self.spec.auto_create).lower(),
            "brokerClusterName": self.spec.cluster_name,
            "brokerName": self.spec.broker_name,
            "brokerId": self.spec.broker_id,
            "brokerRole": "ASYNC_MASTER" if self.spec.is_master else "SLAVE",
            "brokerIP1": host,
            "brokerIP2": host,
            "listenPort": port,
            "haListenPort": int(port) + 1,
            "namesrvAddr": ";".join(self.name_servers),
            "registerNameServerPeriod": 30000,
            "rocketmqHome": "/opt/rocketmq",
            "storePathRootDir": store,
            "storePathCommitLog": f"{store}/commitlog",
        }

    def registration(self, names: Iterable[str] | None = None) -> tuple[dict[str, str], bytes]:
        """Ext fields and body of REGISTER_BROKER: of all topics, or only of `names` (an incremental one)."""
        configs = self.topics.configs
        chosen = configs if names is None else {name: configs[name] for name in names if name in configs}
        body = registration.encode(self.topics.version, self._permitted(chosen))
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
        return headers.write(header), body

    def _permitted(self, configs: Mapping[str, Config]) -> Mapping[str, Config]:
        """A broker that may not write or read registers no topic as writable or readable."""
        permission = self.properties.permission
        if permission & 6 == 6:
            return configs
        return {name: {**config, "perm": config["perm"] & permission} for name, config in configs.items()}

    def unregistration(self) -> Command:
        identity = headers.BrokerIdentity(
            self.spec.broker_name, self.broker_addr, self.spec.cluster_name, self.spec.broker_id
        )
        return request(RequestCode.UNREGISTER_BROKER, headers.write(identity))


def _system_topics(spec: BrokerSpec) -> list[Config]:
    found = system_topics(spec.cluster_name, spec.broker_name)
    return found if spec.auto_create else [item for item in found if item["topicName"] != DEFAULT_TOPIC]


def _readers(spec: BrokerSpec) -> dict[str, tuple[str, ...]]:
    """The groups of each topic, and each group's retry topic, where the broker has it."""
    retries = {config["topicName"] for config in spec.topics}
    groups = {group for names in spec.groups.values() for group in names}
    own = {f"{RETRY_PREFIX}{group}": (group,) for group in groups if f"{RETRY_PREFIX}{group}" in retries}
    return {**spec.groups, **own}
