"""Broker: one simulated broker on its sockets. Registers, heartbeats, answers, leaves or dies."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.fleet.answers import answer
from namesrv_core.fleet.model import BrokerModel, BrokerSpec, Peers
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.bodies import DataVersion, as_object, data_version
from namesrv_core.protocol.codes import Perm, RequestCode
from namesrv_core.protocol.command import Command, request
from namesrv_core.transport.channel import Channel
from namesrv_core.transport.listener import Listener
from namesrv_core.transport.stream import Stream

PERIOD = 30.0
"""Seconds between two registrations (registerNameServerPeriod)."""
PRODUCER_PERIOD = 30.0
"""Seconds between two looks of the broker's producers at a route (pollNameServerInterval)."""
METADATA_PERIOD = 5.0
"""Seconds between two looks of a slave at its master's topics (syncBrokerMetadataPeriod)."""

log = logging.getLogger("fleet")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Broker:
    """`await start()` returns when every name server has been told; then `await leave()`, or `die()`.

    It registers again `first` seconds later, and then every `period`.
    """

    model: BrokerModel

    def __init__(
        self,
        spec: BrokerSpec,
        name_servers: Sequence[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        period: float = PERIOD,
        first: float | None = None,
        metadata_period: float = METADATA_PERIOD,
        producer_period: float = PRODUCER_PERIOD,
        peers: Peers | None = None,
        clock: Callable[[], int] = now_ms,
        connect: Callable[[str], Channel] = Channel,
    ) -> None:
        self.spec = spec
        self.master_addr: str | None = None
        self._place = (host, port)
        self._peers: Peers = {} if peers is None else peers
        self._period = period
        self._first = period if first is None else first
        self._metadata_period = metadata_period
        self._producer_period = producer_period
        self._listener: Listener | None = None
        self._clock = clock
        self._is_frozen = False
        self._channels = [connect(addr) for addr in name_servers]
        self._master: Channel | None = None
        self._streams: set[Stream] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._registering = asyncio.Lock()

    @property
    def broker_addr(self) -> str:
        return self.model.broker_addr

    async def start(self) -> None:
        host, port = self._place
        try:
            self._listener = await Listener.open(self, host, port)
        except OSError as error:
            raise RocketMQError(f"{self._name} cannot listen at {host}:{port}: {error.strerror}") from error
        addr = f"{host}:{self._listener.port}"
        name_servers = [channel.address for channel in self._channels]
        self.model = BrokerModel(self.spec, addr, name_servers, self._clock())
        self._peers[self.spec.broker_name, self.spec.broker_id] = self.model
        self.model.peers = self._peers
        await self._begin()

    async def _begin(self) -> None:
        await self.register()
        self._run(self._every(self._period, self.register, self._first))
        if self.spec.is_master and self.spec.topics:
            self._run(self._every(self._producer_period, self.produce))
        if not self.spec.is_master:
            await self.copy_master()
            self._run(self._every(self._metadata_period, self.copy_master))

    async def register(self, topics: Iterable[str] | None = None) -> None:
        """Tell every name server of all topics, or of these; one that cannot be told is logged."""
        async with self._registering:
            ext, body = self.model.registration(topics)
            told: list[Command] = []
            await asyncio.gather(*(self._register_at(channel, ext, body, told) for channel in self._channels))
        if told:
            # The first answer counts, and a missing address too
            # (`BrokerController#handleRegisterBrokerResult`).
            self.master_addr = (told[0].ext or {}).get("masterAddr")

    async def _register_at(
        self, channel: Channel, ext: dict[str, str], body: bytes, told: list[Command]
    ) -> None:
        try:
            answered = await channel.request(request(RequestCode.REGISTER_BROKER, ext, body))
        except OSError as error:
            log.warning("%s: no registration at %s: %s", self._name, channel.address, error or "no answer")
            return
        if answered.code == ResponseCode.SUCCESS:
            told.append(answered)
        else:
            log.warning("%s: %s refused the registration: %s", self._name, channel.address, answered.remark)

    async def produce(self) -> None:
        """Producers go on writing, or do not: some write as long as any name server's routes let them."""
        topics = [config["topicName"] for config in self.spec.topics if config["perm"] & Perm.WRITE]
        if not topics:
            return
        asked = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, headers.write(headers.GetRoute(topics[0])))
        answers = await asyncio.gather(
            *(channel.request(asked) for channel in self._channels), return_exceptions=True
        )
        known = [answer for answer in answers if isinstance(answer, Command)]
        if any(self._is_writable(answer) for answer in known):
            self.model.write(self._clock(), True)
        elif known:
            self.model.write(self._clock(), False)

    def _is_writable(self, answer: Command) -> bool:
        """Whether a route lets clients write here."""
        queues = fastjson.loads(answer.body).get("queueDatas") if answer.body else None
        return any(
            queue["brokerName"] == self.spec.broker_name and queue["perm"] & Perm.WRITE
            for queue in queues or ()
        )

    async def copy_master(self) -> None:
        """Take over the master's topics and groups, if there is a master (`SlaveSynchronize#syncAll`)."""
        addr = self.master_addr
        if addr is None:
            return
        if self._master is None or self._master.address != addr:
            self._forget_master()
            self._master = Channel(addr)
        try:
            topics, version = await self._copied(
                self._master, RequestCode.GET_ALL_TOPIC_CONFIG, "topicConfigTable"
            )
            self.model.topics.copy_from(topics, version)
            groups, version = await self._copied(
                self._master, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, "subscriptionGroupTable"
            )
            self.model.groups.copy_from(groups, version)
        except (OSError, ValueError, KeyError) as error:
            log.warning(
                "%s: no topics or groups from its master %s: %s", self._name, addr, error or "no answer"
            )

    async def _copied(self, master: Channel, code: int, name: str) -> tuple[dict[str, Any], DataVersion]:
        """A table of the master's and its version; ValueError or KeyError where there is none."""
        body = as_object(fastjson.loads((await master.request(request(code))).body))
        version = data_version(body["dataVersion"], self._clock())
        if version is None:
            raise ValueError("no version")
        return as_object(body[name]), version

    def _forget_master(self) -> None:
        if self._master is not None:
            self._master.close()
            self._master = None

    @property
    def _name(self) -> str:
        return f"{self.spec.broker_name}:{self.spec.broker_id}"

    async def leave(self) -> None:
        """Say goodbye to each name server, then close: those that cannot be told find out by themselves."""
        self._cancel()
        for channel in self._channels if self._listener is not None else ():
            try:
                await channel.request(self.model.unregistration())
            except OSError as error:
                log.warning("%s: %s was not told that it leaves: %s", self._name, channel.address, error)
        self._close(abruptly=False)

    def die(self) -> None:
        """Be gone as a killed process is: nothing is said, all connections break."""
        self._cancel()
        self._close(abruptly=True)

    def freeze(self) -> None:
        """Do nothing, as a stopped process does: connections stay, nothing is sent, read or answered."""
        self._is_frozen = True
        self._cancel()
        for stream in self._streams:
            stream.hold()

    async def thaw(self) -> None:
        """Go on: answer what was asked meanwhile, and register, as that is due."""
        self._is_frozen = False
        for stream in self._streams:
            stream.release()
        await self._begin()

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _close(self, *, abruptly: bool) -> None:
        if self._listener is not None:
            self._listener.close()
        self._forget_master()
        ends: list[Channel | Stream] = [*self._channels, *self._streams]
        for end in ends:
            end.abort() if abruptly else end.close()

    async def _every(
        self, seconds: float, act: Callable[[], Awaitable[None]], first: float | None = None
    ) -> None:
        await asyncio.sleep(seconds if first is None else first)
        while True:
            await act()
            await asyncio.sleep(seconds)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def opened(self, stream: Stream) -> None:
        self._streams.add(stream)
        if self._is_frozen:
            stream.hold()

    def closed(self, stream: Stream) -> None:
        self._streams.discard(stream)

    def received(self, stream: Stream, command: Command) -> Command | None:
        if command.is_reply:
            return None
        reply, outcome = answer(self.model, command, self._clock())
        if outcome.registers:
            self._run(self._register_then_send(stream, outcome.topics, None if command.is_oneway else reply))
            return None
        return None if command.is_oneway else reply

    async def _register_then_send(
        self, stream: Stream, topics: Iterable[str] | None, reply: Command | None
    ) -> None:
        await self.register(topics)
        if reply is not None:
            stream.send(reply)
