"""SimulatedBroker, a broker with real sockets: it registers, answers requests, and leaves or dies."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec, PeerModels
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.codes import Perm, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.json_bodies import DataVersion, parse_data_version, require_object
from namesrv_core.transport.address import split_server_addr
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.listener import StreamListener
from namesrv_core.transport.request_channel import RequestChannel

HEARTBEAT_PERIOD_SECONDS = 30.0
"""Seconds between two registrations (registerNameServerPeriod)."""
PRODUCER_PERIOD_SECONDS = 30.0
"""Seconds between two route lookups of the broker's producers (pollNameServerInterval)."""
METADATA_PERIOD_SECONDS = 5.0
"""Seconds between two copies of the master's topics by a slave (syncBrokerMetadataPeriod)."""

log = logging.getLogger("fleet")


def wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class SimulatedBroker:
    """A simulated broker. `await start()` returns after the registration with every name server.

    It registers again `first` seconds later, and then every `period` seconds.
    """

    model: BrokerModel

    def __init__(
        self,
        spec: BrokerSpec,
        namesrv_addrs: Sequence[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        heartbeat_period: float = HEARTBEAT_PERIOD_SECONDS,
        first_delay_seconds: float | None = None,
        metadata_period: float = METADATA_PERIOD_SECONDS,
        producer_period: float = PRODUCER_PERIOD_SECONDS,
        peer_models: PeerModels | None = None,
        clock_ms: Callable[[], int] = wall_clock_ms,
        open_channel: Callable[[str], RequestChannel] = RequestChannel,
    ) -> None:
        self.spec = spec
        self.master_addr: str | None = None
        self._listen_place = (host, port)
        self._peer_models: PeerModels = {} if peer_models is None else peer_models
        self._period = heartbeat_period
        self._first_delay_seconds = heartbeat_period if first_delay_seconds is None else first_delay_seconds
        self._metadata_period = metadata_period
        self._producer_period = producer_period
        self._listener: StreamListener | None = None
        self._clock_ms = clock_ms
        self._is_frozen = False
        self._open_channel = open_channel
        self._channels = [open_channel(addr) for addr in namesrv_addrs]
        self._left_channels: list[RequestChannel] = []
        self._master_channel: RequestChannel | None = None
        self._open_streams: set[CommandStream] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._registration_lock = asyncio.Lock()

    @property
    def broker_addr(self) -> str:
        return self.model.broker_addr

    async def start(self) -> None:
        listen_host, listen_port = self._listen_place
        try:
            self._listener = await StreamListener.open(self, listen_host, listen_port)
        except OSError as error:
            raise RocketMQError(
                f"{self._log_name} cannot listen at {listen_host}:{listen_port}: {error.strerror}"
            ) from error
        broker_addr = f"{listen_host}:{self._listener.bound_port}"
        namesrv_addrs = [channel.server_addr for channel in self._channels]
        peer_key = self.spec.broker_name, self.spec.broker_id
        previous = self._peer_models.get(peer_key)
        self.model = BrokerModel(self.spec, broker_addr, namesrv_addrs, self._clock_ms(), previous)
        self._peer_models[peer_key] = self.model
        self.model.peer_models = self._peer_models
        await self._begin_heartbeats()

    async def _begin_heartbeats(self) -> None:
        await self.register_topics()
        self._run_in_background(
            self._repeat_every(self._period, self.register_topics, self._first_delay_seconds)
        )
        if self.spec.is_master:
            self._run_in_background(self._repeat_every(self._producer_period, self.follow_routes))
        if not self.spec.is_master:
            await self.copy_master_tables()
            self._run_in_background(self._repeat_every(self._metadata_period, self.copy_master_tables))

    async def register_topics(self, topic_names: Iterable[str] | None = None) -> None:
        """Register all topics, or these, with every name server. Failures are logged."""
        async with self._registration_lock:
            self._follow_name_servers()
            ext_fields, body = self.model.encode_registration(topic_names)
            accepted: list[RemotingCommand] = []
            await asyncio.gather(
                *(self._register_at_name_server(c, ext_fields, body, accepted) for c in self._channels)
            )
        if accepted:
            # The first answer counts, and a missing address too
            # (`BrokerController#handleRegisterBrokerResult`).
            self.master_addr = (accepted[0].ext or {}).get("masterAddr")

    def _follow_name_servers(self) -> None:
        """Take the name servers of `namesrvAddr`, which an operator may have changed.

        Released brokers look at it every two minutes. They do not unregister from one that they leave.
        """
        listed_addrs = dict.fromkeys(self.model.properties["namesrvAddr"].split(";"))
        channels = {c.server_addr: c for c in (*self._left_channels, *self._channels)}
        self._channels = [
            channels.pop(addr) if addr in channels else self._open_channel(addr)
            for addr in listed_addrs
            if split_server_addr(addr)
        ]
        self._left_channels = [*channels.values()]

    async def _register_at_name_server(
        self,
        channel: RequestChannel,
        ext_fields: dict[str, str],
        body: bytes,
        accepted: list[RemotingCommand],
    ) -> None:
        try:
            reply = await channel.send_request(build_request(RequestCode.REGISTER_BROKER, ext_fields, body))
        except OSError as error:
            log.warning(
                "%s: cannot register with %s: %s",
                self._log_name,
                channel.server_addr,
                str(error) or "no answer",
            )
            return
        if reply.code == ResponseCode.SUCCESS:
            accepted.append(reply)
        else:
            log.warning(
                "%s: %s refused the registration: %s",
                self._log_name,
                channel.server_addr,
                escape_unsafe(reply.remark or ""),
            )

    async def follow_routes(self) -> None:
        """Let producers write to the queues of routes, while the route of any name server allows it."""
        writable = self.model.follow_routes(self._clock_ms())
        if not writable:
            return
        request = build_request(
            RequestCode.GET_ROUTEINFO_BY_TOPIC, headers.write_header(headers.GetRoute(writable[0]))
        )
        replies = await asyncio.gather(
            *(channel.send_request(request) for channel in self._channels), return_exceptions=True
        )
        received = [reply for reply in replies if isinstance(reply, RemotingCommand)]
        if any(self._is_writable(reply) for reply in received):
            self.model.allow_writes(self._clock_ms(), True)
        elif received:
            self.model.allow_writes(self._clock_ms(), False)

    def _is_writable(self, reply: RemotingCommand) -> bool:
        queues = fastjson.decode_json(reply.body).get("queueDatas") if reply.body else None
        return any(q["brokerName"] == self.spec.broker_name and q["perm"] & Perm.WRITE for q in queues or ())

    async def copy_master_tables(self) -> None:
        """Copy the topics, groups and consume modes of the master, if any (`SlaveSynchronize#syncAll`)."""
        master_addr = self.master_addr
        if master_addr is None:
            return
        if self._master_channel is None or self._master_channel.server_addr != master_addr:
            self._close_master_channel()
            self._master_channel = RequestChannel(master_addr)
        try:
            configs, version = await self._fetch_master_table(
                self._master_channel, RequestCode.GET_ALL_TOPIC_CONFIG, "topicConfigTable"
            )
            self.model.topic_table.copy_from(configs, version)
            group_configs, version = await self._fetch_master_table(
                self._master_channel, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable"
            )
            self.model.group_table.copy_from(group_configs, version)
            request = build_request(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
            modes = require_object(
                fastjson.decode_json((await self._master_channel.send_request(request)).body)
            )
            self.model.consume_modes = modes["messageRequestModeMap"]
        except (OSError, ValueError, KeyError) as error:
            log.warning(
                "%s: cannot copy topics and groups from its master %s: %s",
                self._log_name,
                master_addr,
                str(error) or "no answer",
            )

    async def _fetch_master_table(
        self, channel: RequestChannel, code: int, table_name: str
    ) -> tuple[dict[str, Any], DataVersion]:
        """Fetch a table of the master, with its version. Raises ValueError or KeyError without one."""
        body = require_object(fastjson.decode_json((await channel.send_request(build_request(code))).body))
        version = parse_data_version(body["dataVersion"], self._clock_ms())
        if version is None:
            raise ValueError("no version")
        return require_object(body[table_name]), version

    def _close_master_channel(self) -> None:
        if self._master_channel is not None:
            self._master_channel.close()
            self._master_channel = None

    @property
    def _log_name(self) -> str:
        return f"{self.spec.broker_name}:{self.spec.broker_id}"

    def _stop_work(self) -> None:
        """Store no message while the broker is down. Its slaves get none either."""
        self._cancel_tasks()
        if self.spec.is_master and self._listener is not None:
            self.model.allow_writes(self._clock_ms(), False)

    async def leave_cluster(self) -> None:
        """Unregister from each name server, then close. Unreachable name servers notice it on their own."""
        self._stop_work()
        for channel in self._channels if self._listener is not None else ():
            try:
                await channel.send_request(self.model.build_unregistration())
            except OSError as error:
                reason = str(error) or "no answer"
                log.warning("%s: cannot unregister from %s: %s", self._log_name, channel.server_addr, reason)
        self._close_connections(is_abrupt=False)

    def die_abruptly(self) -> None:
        """End like a killed process: send nothing, and break all connections."""
        self._stop_work()
        self._close_connections(is_abrupt=True)

    def freeze(self) -> None:
        """Behave like a suspended process: keep connections open, but send, read and answer nothing."""
        self._is_frozen = True
        self._cancel_tasks()
        for stream in self._open_streams:
            stream.hold_reading()

    async def thaw(self) -> None:
        """Continue after `freeze`: answer the waiting requests, and register again."""
        self._is_frozen = False
        for stream in self._open_streams:
            stream.release_reading()
        await self._begin_heartbeats()

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _close_connections(self, *, is_abrupt: bool) -> None:
        if self._listener is not None:
            self._listener.close()
        self._close_master_channel()
        open_ends: list[RequestChannel | CommandStream] = [
            *self._channels,
            *self._left_channels,
            *self._open_streams,
        ]
        for open_end in open_ends:
            open_end.abort() if is_abrupt else open_end.close()

    async def _repeat_every(
        self,
        period_seconds: float,
        action: Callable[[], Awaitable[None]],
        first_delay_seconds: float | None = None,
    ) -> None:
        await asyncio.sleep(period_seconds if first_delay_seconds is None else first_delay_seconds)
        while True:
            await action()
            await asyncio.sleep(period_seconds)

    def _run_in_background(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stream_opened(self, stream: CommandStream) -> None:
        self._open_streams.add(stream)
        if self._is_frozen:
            stream.hold_reading()

    def stream_closed(self, stream: CommandStream) -> None:
        self._open_streams.discard(stream)

    def command_received(self, stream: CommandStream, command: RemotingCommand) -> RemotingCommand | None:
        if command.is_reply:
            return None
        reply, outcome = handle_request(self.model, command, self._clock_ms())
        if outcome.needs_registration:
            self._run_in_background(
                self._register_then_send(stream, outcome.changed_topics, None if command.is_oneway else reply)
            )
            return None
        return None if command.is_oneway else reply

    async def _register_then_send(
        self, stream: CommandStream, topic_names: Iterable[str] | None, reply: RemotingCommand | None
    ) -> None:
        await self.register_topics(topic_names)
        if reply is not None:
            stream.send_command(reply)
