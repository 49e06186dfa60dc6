"""A broker of the simulation: the topics and the handlers of the fleet's broker, with counted messages."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from namesrv_core.errors import ResponseCode
from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.groups import GroupTable
from namesrv_core.fleet.properties import BrokerProperties
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import TopicConfigJson, TopicTable, make_topic_config
from namesrv_core.fleet.users import UserTable
from namesrv_core.handlers.decoded_bodies import LazyRegistration, PreparedRequest
from namesrv_core.protocol import json_bodies
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.protocol.headers import RegisterBroker, read_header
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.simulation.world import World

if TYPE_CHECKING:
    from tests.simulation.name_server import SimulatedNameServer

HEARTBEAT_MS = 30_000
_SAMPLE_MS, _MINUTE_MS = 10_000, 60_000
_MESSAGE_BYTES = 500
CLUSTER = "C"
_NO_STATE = NameServerState(NameServerSettings(), KvConfig({}), 0)


class _SimulatedModel(BrokerModel):
    """The state of a broker, without the expensive traffic of the fleet."""

    def __init__(self, spec: BrokerSpec, addr: str, namesrv_addrs: Iterable[str], now_ms: int) -> None:
        self.spec, self.broker_addr, self.namesrv_addrs = spec, addr, tuple(namesrv_addrs)
        self.started_at_ms = now_ms
        own_topic = make_topic_config(spec.broker_name, 1, perm=7)
        self.topic_table = TopicTable(
            (own_topic, *spec.topic_configs), frozenset((spec.broker_name,)), now_ms
        )
        self.group_table = GroupTable((), now_ms)
        self.user_table = UserTable()
        self.consume_modes: dict[str, dict[str, TopicConfigJson]] = {}
        self.properties = BrokerProperties.__new__(BrokerProperties)
        self.properties._values = {
            **{key: str(value) for key, value in self._list_own_properties().items()},
            "brokerPermission": "6",
            "configBlackList": "configBlackList;brokerConfigPath",
        }
        self.properties.data_version = DataVersion(0, 0, now_ms)
        self.peer_models = {(spec.broker_name, spec.broker_id): self}


_numbers_by_topics: dict[Hashable, int] = {}
_prepared_registrations: dict[tuple[object, ...], PreparedRequest] = {}


def _prepare_registration(fields: Mapping[str, str], body: bytes) -> PreparedRequest:
    """A registration whose body all name servers decode together, also those of other schedules."""
    key = *fields.items(), body
    prepared = _prepared_registrations.get(key)
    if prepared is None:
        if len(_prepared_registrations) > 5_000:
            _prepared_registrations.clear()
        request = build_request(RequestCode.REGISTER_BROKER, fields, body)
        header = read_header(RegisterBroker, fields)
        lazy = LazyRegistration(_NO_STATE, request, header, now_ms=0)
        prepared = _prepared_registrations[key] = PreparedRequest(request, lazy)
    return prepared


class SimulatedBroker:
    """A broker process. It registers every 30 s, and when its topics or its permission change.

    `channels` are its connections by name server. `master` is None for a master.
    """

    def __init__(
        self,
        world: World,
        spec: BrokerSpec,
        addr: str,
        name_servers: "Mapping[str, SimulatedNameServer]",
        master: "SimulatedBroker | None" = None,
    ) -> None:
        self.world = world
        self.spec = spec
        self.addr = addr
        self.master = master
        self.is_up = self.is_frozen = self.is_cut = False
        self.is_stale = False
        self.run_number = 0
        self.boot_ms = 0
        self.put_count = 0
        self.log_end = 0
        self.recent_puts: dict[str, deque[int]] = {}
        self.model = _SimulatedModel(spec, addr, name_servers, world.true_ms)
        self._name_servers = name_servers
        self._channels: dict[str, tuple[int, int]] = {}
        self._topics: tuple[DataVersion, int] | None = None
        self._encoded: tuple[object, PreparedRequest] | None = None

    @property
    def title(self) -> str:
        return self.spec.broker_name + ("" if self.spec.is_master else f"/{self.spec.broker_id}")

    # Its life

    def start(self, first_heartbeat_ms: int) -> None:
        self.is_up, self.is_frozen, self.run_number = True, False, self.run_number + 1
        self.boot_ms = self.world.true_ms
        self.put_count = 0
        self.recent_puts.clear()
        self.register_topics()
        self._plan_heartbeat(self.run_number, first_heartbeat_ms)

    def _plan_heartbeat(self, run_number: int, delay_ms: int) -> None:
        def beat() -> None:
            if self.is_up and self.run_number == run_number:
                self.register_topics()
                self._plan_heartbeat(run_number, HEARTBEAT_MS)

        self.world.call_after(delay_ms, beat)

    def stop(self, *, is_abrupt: bool) -> None:
        """End the process; unless it is killed, it unregisters. Name servers notice closed connections."""
        self.is_up = False
        for addr, (channel_id, server_run) in self._channels.items():
            server = self._name_servers[addr]
            if server.is_up and server.run_number == server_run and self.addr not in server.cut_brokers:
                if not is_abrupt and not server.is_frozen:
                    server.handle(self.model.build_unregistration(), channel_id)
                server.end_channel(channel_id)
        self._channels.clear()

    def register_topics(self, topics: Iterable[str] | None = None) -> None:
        """Register all topics with all name servers, or only these, as after a change of a topic."""
        if self.is_frozen:
            return
        if topics is None:
            version = self.model.topic_table.data_version, self.model.properties.broker_permission
            if self._encoded is None or self._encoded[0] != version:
                self._encoded = version, _prepare_registration(*self.model.encode_registration())
            request = self._encoded[1]
        else:
            request = _prepare_registration(*self.model.encode_registration(topics))
        for server in self._name_servers.values():
            if not server.is_up or self.addr in server.cut_brokers:
                continue
            channel_id = self._find_channel(server)
            if server.is_frozen:
                server.waiting.append((request, channel_id))
            else:
                server.register(request, channel_id, (self.spec.cluster_name, self.addr))

    def _find_channel(self, server: "SimulatedNameServer") -> int:
        channel_id, server_run = self._channels.get(server.addr, (0, 0))
        if server_run != server.run_number:
            channel_id = self.world.random.getrandbits(40)
            self._channels[server.addr] = channel_id, server.run_number
        return channel_id

    # Messages

    def put_message(self, topic: str) -> None:
        """Store a message; a producer sent it."""
        self.put_count += 1
        self.log_end += _MESSAGE_BYTES
        times = self.recent_puts.setdefault(topic, deque())
        times.append(self.world.true_ms)
        if len(times) > 400:
            times.popleft()

    def _count_recent(self, topics: Iterable[str]) -> int:
        sampled_ms = self.world.true_ms - self.world.true_ms % _SAMPLE_MS
        return sum(
            sampled_ms - _MINUTE_MS < put_ms <= sampled_ms
            for topic in topics
            for put_ms in self.recent_puts.get(topic, ())
        )

    # Requests of nsadmin

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        if self.master is not None and not self.is_stale and self.master.is_up:
            table, group_table = self.master.model.topic_table, self.master.model.group_table
            self.model.topic_table.copy_from(table.configs, table.data_version)
            self.model.group_table.copy_from(group_table.configs, group_table.data_version)
        match request.code:
            case RequestCode.GET_BROKER_RUNTIME_INFO:
                return build_reply(request, body=json_bodies.encode_kv_table(self._describe_runtime()))
            case RequestCode.VIEW_BROKER_STATS_DATA:
                return self._describe_counter(request)
            case RequestCode.PULL_MESSAGE:
                return build_reply(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
            case RequestCode.GET_MAX_OFFSET | RequestCode.GET_MIN_OFFSET:
                return build_reply(request, ext={"offset": "0"})
            case RequestCode.GET_BROKER_HA_STATUS:
                return build_reply(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
        version_before = self.model.topic_table.data_version
        reply, outcome = handle_request(self.model, request, self.world.true_ms)
        if outcome.needs_registration:
            self.register_topics(outcome.changed_topics)
        if self.model.topic_table.data_version != version_before:
            self.world.tell(f"{self.title}: its topics changed by {RequestCode.name_of(request.code)}")
        return reply

    @property
    def facts(self) -> Hashable:
        """Equal for brokers that answer the same about their counters."""
        log_end = self.log_end if self.master is None or self.is_stale else self.master.log_end
        return self.addr, self._is_answering, self.boot_ms, self.put_count, log_end

    @property
    def _is_answering(self) -> tuple[bool, ...]:
        return self.is_up, self.is_frozen, self.is_cut

    @property
    def topic_facts(self) -> Hashable:
        """Equal for brokers that answer the same about their topics."""
        table = self.model.topic_table
        if self._topics is None or self._topics[0] != table.data_version:
            configs = *map(str, table.configs.values()), table.data_version
            self._topics = table.data_version, _numbers_by_topics.setdefault(configs, len(_numbers_by_topics))
        permission = self.model.properties.broker_permission
        return self.addr, self._is_answering, permission, self._topics[1]

    def count_recent_by_topic(self) -> Hashable:
        return tuple((topic, self._count_recent((topic,))) for topic in self.recent_puts)

    def _describe_runtime(self) -> dict[str, str | None]:
        log_end = self.log_end
        if self.master is not None:
            # A stale slave stays where it is.
            log_end = self.log_end = self.log_end if self.is_stale else self.master.log_end
        return {
            "bootTimestamp": str(self.boot_ms),
            "msgPutTotalTodayNow": str(self.put_count),
            "commitLogMaxOffset": str(log_end),
            "brokerVersionDesc": "V5_5_0",
        }

    def _describe_counter(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        topics: Iterable[str] = (fields.get("statsKey") or "",)
        if fields.get("statsName") == "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC":
            topics = self.recent_puts
        count = self._count_recent(topics)
        return build_reply(request, body=b'{"statsMinute":{"avgpt":0.0,"sum":%d,"tps":0.0}}' % count)

    # Changes of topics by others

    def change_topic(self, config: TopicConfigJson) -> None:
        """Create or change a topic, as another operator does; the broker registers it at once."""
        if self.model.topic_table.put_config(config, self.world.true_ms):
            self.register_topics((config["topicName"],))

    def delete_topic(self, topic: str) -> None:
        self.model.topic_table.delete_config(topic, self.world.true_ms)
