"""NameServer: start, serve, stop. Reads the clock once a request and hands it down."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from namesrv_core.errors import ResponseCode
from namesrv_core.events import Event, KvDeleted, KvPut, MinBrokerIdChanged, SettingsChanged
from namesrv_core.handlers.dispatch import handle
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, reply
from namesrv_core.server import journaling
from namesrv_core.server.housekeeping import Housekeeping
from namesrv_core.server.keeper import Keeper
from namesrv_core.server.log import line, log
from namesrv_core.server.notices import Notices
from namesrv_core.state import liveness
from namesrv_core.state.kv import KvConfig, Tables
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.settings import Settings
from namesrv_core.storage import kv_file, settings_file
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.listener import Listener
from namesrv_core.transport.stream import Stream

_IDLE_LOOK = 1.0
_SHORTEST_SCAN = 0.1
# Peers of this version and later understand GO_AWAY (V5_3_1 is the last that does not).
_UNDERSTANDS_GO_AWAY = 476


Clock = Callable[[], float]
"""Seconds since 1970."""


def steady() -> Clock:
    """What time it is, told from now on by a clock that nobody sets."""
    epoch = time.time() - time.monotonic()
    return lambda: epoch + time.monotonic()


class NameServer:
    """A name server on one address. OSError and RocketMQError from the constructor, OSError from `start`.

    `clock` never goes back, `wall_clock` is the one that people set: it dates what the journal has.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None, wall_clock: Clock = time.time) -> None:
        self._clock = clock or steady()
        self.state = NameServerState(
            settings, KvConfig(kv_file.load(Path(settings.kvConfigPath))), self.now()
        )
        self._streams: set[Stream] = set()
        self._listener: Listener
        self._leaving = False
        self._is_frozen = False
        self._idle: set[Stream] = set()
        self._stopped = False
        self._notices = Notices()
        self._housekeeping = Housekeeping(
            (lambda: max(settings.scanNotActiveBrokerInterval / 1000, _SHORTEST_SCAN), self._expire),
            (lambda: _IDLE_LOOK, self._close_idle),
            (lambda: journaling.TICK / 1000, self._tick),
        )
        kv, kv_path = self.state.kv, Path(settings.kvConfigPath)
        self._kv_keeper: Keeper[Tables] = Keeper(
            lambda: {namespace: dict(table) for namespace, table in kv.tables.items()},
            lambda tables: kv_file.save(kv_path, tables),
            kv.restore,
        )
        self._settings_keeper: Keeper[dict[str, str]] = Keeper(
            settings.items,
            lambda items: settings_file.save(Path(settings.configStorePath), items),
            settings.restore,
        )
        self._journal = journaling.opened(
            self.state, lambda: (self._kv_keeper.kept, self._settings_keeper.kept), wall_clock
        )

    def now(self) -> int:
        """Milliseconds since 1970, steady: a clock that is set while we run makes no broker expire."""
        return int(self._clock() * 1000)

    @property
    def address(self) -> str:
        """What is really listened on."""
        return join_addr(self._listener.address, self._listener.port)

    async def start(self) -> None:
        settings = self.state.settings
        self._listener = await Listener.open(
            self, settings.bindAddress, settings.listenPort, settings.serverSocketBacklog
        )
        if self._journal is not None:
            server = settings.journalServerId or join_addr(socket.gethostname(), self._listener.port)
            self._journal.start(self.address, server, self.now())
        self._housekeeping.start()

    def take_snapshot(self) -> None:
        """Write all tables to the journal, if there is one."""
        if self._journal is not None:
            self._journal.take("request", self.now())

    async def stop(self, reason: str = "told to") -> None:
        """Say go away for as long as the settings want, finish what is being written, close everything."""
        settings = self.state.settings
        if settings.enableShutdownGracefully:
            self._leaving = True
            await asyncio.sleep(settings.shutdownWaitTimeSeconds)
        self._stopped = True
        self._listener.close()
        self._housekeeping.stop()
        self._notices.stop()
        await self._kv_keeper.finish()
        await self._settings_keeper.finish()
        for stream in list(self._streams):
            stream.close()
        if self._journal is not None:
            journal, self._journal = self._journal, None
            await asyncio.to_thread(journal.stop, reason)

    async def die(self) -> None:
        """Be gone as a killed process is: nothing is said, all connections break."""
        self._stopped = True
        self._listener.close()
        self._housekeeping.stop()
        self._notices.stop()
        for stream in list(self._streams):
            stream.abort()
        if self._journal is not None:
            await asyncio.to_thread(self._journal.stop, None)
            self._journal = None

    def freeze(self) -> None:
        """Do nothing, as a stopped process does: connections come about and stay, nothing is read."""
        self._is_frozen = True
        self._housekeeping.stop()
        for stream in self._streams:
            stream.hold()

    def thaw(self) -> None:
        """Go on: what was sent meanwhile is read, then comes what was due."""
        self._is_frozen = False
        for stream in self._streams:
            stream.release()
        self._housekeeping.resume()

    def opened(self, stream: Stream) -> None:
        self._streams.add(stream)
        if self._is_frozen:
            stream.hold()

    def received(self, stream: Stream, command: Command) -> Command | None:
        if command.is_reply:
            return None
        if self._leaving and command.version >= _UNDERSTANDS_GO_AWAY:
            answer = reply(command, ResponseCode.GO_AWAY, remark="please go away")
            return None if command.is_oneway else answer
        try:
            answer, events = handle(self.state, command, stream.number, self.now())
        except Exception as error:
            log.exception("request %s from %s failed", command, stream.peer)
            answer, events = (
                reply(command, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"),
                (),
            )
        if events:
            keeper = self._keeper_of(events)
            if keeper is not None:
                keeper.keep(lambda failure: self._kept(stream, command, answer, events, failure))
                return None
            self._publish(events, _name(command), stream.peer)
        return None if command.is_oneway else answer

    def closed(self, stream: Stream) -> None:
        self._streams.discard(stream)
        cause = "channel idle" if stream in self._idle else "channel closed"
        self._idle.discard(stream)
        if not self._stopped:
            self._publish(liveness.channel_closed(self.state.tables, stream.number), cause, stream.peer)

    def _keeper_of(self, events: Sequence[Event]) -> Keeper[Tables] | Keeper[dict[str, str]] | None:
        if isinstance(events[0], (KvPut, KvDeleted)):
            return self._kv_keeper
        return self._settings_keeper if isinstance(events[0], SettingsChanged) else None

    def _kept(
        self,
        stream: Stream,
        command: Command,
        answer: Command,
        events: Sequence[Event],
        failure: Exception | None,
    ) -> None:
        if failure is None:
            self._publish(events, _name(command), stream.peer)
        else:
            log.error(
                "could not keep what request %d from %s changed: %s", command.code, stream.peer, failure
            )
            answer = reply(
                command, ResponseCode.SYSTEM_ERROR, remark=f"not changed, it could not be written: {failure}"
            )
        if not command.is_oneway:
            stream.send(answer)

    def _publish(self, events: Sequence[Event], cause: str, client: str | None = None) -> None:
        if self._journal is not None:
            self._journal.publish(events, cause, client)
        for event in events:
            log.info(line(event, cause if client is None else f"{cause} from {client}"))
            if isinstance(event, MinBrokerIdChanged) and self.state.settings.notifyMinBrokerIdChanged:
                self._notices.send(event)

    def _tick(self) -> None:
        if self._journal is not None:
            self._journal.tick(self.now())

    def _expire(self) -> None:
        now = self.now()
        channels, events = liveness.expire(self.state.tables, now)
        self._publish(events, "no heartbeat")
        self._publish(liveness.silences(self.state.tables, now), "no heartbeat")
        for stream in [stream for stream in self._streams if stream.number in channels]:
            stream.close()

    def _close_idle(self) -> None:
        limit = self.state.settings.serverChannelMaxIdleTimeSeconds
        silent_since = asyncio.get_running_loop().time() - limit
        for stream in [stream for stream in self._streams if limit > 0 and stream.active_at < silent_since]:
            log.info("closing %s, idle for %d s", stream.peer, limit)
            self._idle.add(stream)
            stream.close()


def _name(command: Command) -> str:
    """What is asked for, as the protocol names it."""
    try:
        return RequestCode(command.code).name
    except ValueError:
        return f"request {command.code}"
