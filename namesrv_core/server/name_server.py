"""NameServer: start, serve, stop. Reads the clock and hands it down."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.events import Event, MinBrokerIdChanged, SettingsChanged
from namesrv_core.handlers import ahead
from namesrv_core.handlers.dispatch import handle
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, reply
from namesrv_core.server import bounds, certificates, guarding, journaling
from namesrv_core.server.counters import Counters, Handle
from namesrv_core.server.draining import Draining
from namesrv_core.server.guarding import Guarding
from namesrv_core.server.housekeeping import Housekeeping, beginning
from namesrv_core.server.keeper import Keeper
from namesrv_core.server.log import log, say, set_level
from namesrv_core.server.loop_lag import LoopLag
from namesrv_core.server.notices import Notices
from namesrv_core.server.quick import QuickAnswers
from namesrv_core.server.recorder import Figures, in_words
from namesrv_core.server.telling import request_name, told
from namesrv_core.state import liveness
from namesrv_core.state.kv import KvConfig, Tables
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.settings import Settings
from namesrv_core.storage import kv_file, settings_file
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.listener import Listener
from namesrv_core.transport.stream import Stream, Work

if TYPE_CHECKING:
    from namesrv_core.transport.http import HttpListener

_WRITTEN = frozenset(
    {RequestCode.PUT_KV_CONFIG, RequestCode.DELETE_KV_CONFIG, RequestCode.UPDATE_NAMESRV_CONFIG}
)
_IDLE_LOOK = 1.0
_SHORTEST_SCAN = 0.1
FIRST_SCAN = 5.0
"""Seconds until silent brokers are looked for, whatever the interval (NamesrvController of 5.5.0)."""


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
        self.counters = Counters()
        self._quick = QuickAnswers(self.state, self.counters)
        self._handle: Handle = handle
        self._loop_lag = LoopLag(self.counters.loop_lag)
        self._streams: set[Stream] = set()
        self._listener: Listener
        self._http: HttpListener | None = None
        self._draining: Draining | None = None
        self._is_frozen = False
        self._idle: set[Stream] = set()
        self._stopped = False
        self.bounds = bounds.Bounds(
            settings, self.state.met, self._streams, time.thread_time if clock is None else clock
        )
        self.state.shown.update(settings.tls.shown())
        self.certificates = certificates.Certificates(settings.tls)
        self._notices = Notices(certificates.outgoing(settings.tls))
        self.guarding = Guarding(self.state)
        self._housekeeping = Housekeeping(
            (
                beginning(
                    FIRST_SCAN, lambda: max(settings.scanNotActiveBrokerInterval / 1000, _SHORTEST_SCAN)
                ),
                self._expire,
            ),
            (lambda: _IDLE_LOOK, self._close_idle),
            (lambda: journaling.TICK / 1000, self._tick),
            (lambda: guarding.TICK, lambda: self.guarding.tick(self.now())),
            (lambda: bounds.LOOK, self.bounds.look),
            (lambda: certificates.LOOK, self.certificates.look),
        )
        kv, kv_path = self.state.kv, Path(settings.kvConfigPath)
        self._kv_keeper: Keeper[Tables] = Keeper(
            lambda: {namespace: dict(table) for namespace, table in kv.tables.items()},
            lambda tables: kv_file.save(kv_path, tables),
            kv.restore,
        )
        self._settings_keeper: Keeper[dict[str, str]] = Keeper(
            settings.items,
            lambda items: settings_file.save(Path(settings.configStorePath), {**items, **settings.hidden}),
            settings.restore,
        )
        self._journal = journaling.opened(
            self.state, lambda: (self._kv_keeper.kept, self._settings_keeper.kept), wall_clock
        )

    def now(self) -> int:
        """Milliseconds since 1970, steady: a clock that is set while we run makes no broker expire."""
        return int(self._clock() * 1000)

    @property
    def listens_at(self) -> tuple[str, int]:
        """What is really listened on."""
        return self._listener.address, self._listener.port

    @property
    def address(self) -> str:
        """The same, as it is written."""
        return join_addr(*self.listens_at)

    @property
    def streams(self) -> Collection[Stream]:
        """The connections that are open."""
        return self._streams

    def unready(self) -> str | None:
        """Why questions about routes are not answered, None where they are."""
        if self._draining is not None or self._stopped:
            return "stopping"
        settings, running = self.state.settings, self.now() - self.state.started_at
        if settings.needWaitForService and running < settings.waitSecondsForService * 1000:
            return f"waiting for brokers to register, {settings.waitSecondsForService} s after the start"
        return "paused" if self._is_frozen else None

    @property
    def leaves_within(self) -> int:
        """For how many seconds `stop` sends clients away; 0 where it ends at once."""
        settings = self.state.settings
        return max(settings.shutdownWaitTimeSeconds, 0) if settings.enableShutdownGracefully else 0

    def journal_figures(self) -> Figures | None:
        """How the journal is, None where there is none."""
        return None if self._journal is None else self._journal.figures()

    async def start(self) -> None:
        settings = self.state.settings
        self._listener = await Listener.open(
            self,
            settings.bindAddress,
            settings.listenPort,
            settings.serverSocketBacklog,
            self._quick,
            self.certificates.terms,
            self.bounds.allowance,
        )
        self.state.shown["listenPort"] = str(self._listener.port)
        if settings.httpAddress is not None:
            await self._serve_http(settings.httpAddress)
        self._arrange()
        if self._journal is not None:
            server = settings.journalServerId or join_addr(socket.gethostname(), self._listener.port)
            self._journal.start(self.address, server, self.now())
        self._housekeeping.start()

    async def _serve_http(self, address: str) -> None:
        # Whoever has no such port loads neither h11 nor prometheus_client, and nothing is measured.
        from namesrv_core.server import pages

        try:
            self._http = await pages.opened(self, address)
        except (OSError, RocketMQError) as error:
            self._listener.close()
            raise RocketMQError(f"cannot serve HTTP at {address}: {in_words(error)}") from None
        self._loop_lag.start()
        self.state.shown["httpAddress"] = self._http.address
        log.info("HTTP at http://%s", self._http.address)

    def take_snapshot(self) -> None:
        """Write all tables to the journal, if there is one."""
        if self._journal is not None:
            self._journal.take("request", self.now())

    def reload(self) -> None:
        """Read the files anew that may change while it serves."""
        self.guarding.reload()
        self.certificates.reload()

    async def stop(self, reason: str = "told to") -> None:
        """Send clients away for as long as the settings want, finish what is being written, close all."""
        if self.leaves_within:
            log.info("sending clients away for %d s", self.leaves_within)
            self._quick.end()
            self._draining = Draining(self.state.tables, self._streams, self.counters)
            await self._draining.last(self.leaves_within)
            log.info("%d requests were answered with GO_AWAY", self.counters.sent_away)
        self._close()
        self.guarding.stop(self.now())
        await self._kv_keeper.finish()
        await self._settings_keeper.finish()
        for stream in list(self._streams):
            stream.close()
        if self._journal is not None:
            journal, self._journal = self._journal, None
            await asyncio.to_thread(journal.stop, reason)

    def hurry(self) -> None:
        """Send nobody away any more: a `stop` under way goes on at once."""
        if self._draining is not None:
            self._draining.hurry()

    async def die(self) -> None:
        """Be gone as a killed process is: nothing is said, all connections break."""
        self._close()
        for stream in list(self._streams):
            stream.abort()
        if self._journal is not None:
            await asyncio.to_thread(self._journal.stop, None)
            self._journal = None

    def _close(self) -> None:
        """No more connections, and nothing more by the clock."""
        self._stopped = True
        self._listener.close()
        self.certificates.stop()
        if self._http is not None:
            self._http.close()
        self._loop_lag.stop()
        self._housekeeping.stop()
        self._notices.stop()

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
        if not self.bounds.admits(stream):
            stream.abort()
            return
        self._streams.add(stream)
        self.counters.opened += 1
        log.debug("connection %d from %s", stream.number, stream.peer)
        if self._is_frozen:
            stream.hold()

    def received(self, stream: Stream, command: Command) -> Command | Work | None:
        if command.is_reply:
            return None
        if self._draining is not None:
            refusal = self._draining.refusal(stream, command)
            if refusal is not None:
                return None if command.is_oneway else refusal
        if len(command.body) >= ahead.LARGE:
            steps = ahead.steps(self.state, command, self.now(), stream)
            if steps is not None:
                return self._work(stream, command, steps)
        return self._carried_out(stream, command)

    def _work(self, stream: Stream, command: Command, steps: ahead.Steps) -> Work:
        try:
            command = yield from steps
        except Exception:
            # Whatever it is, the handler meets it, too.
            log.debug("nothing was done ahead of %s", command, exc_info=True)
        answer = self._carried_out(stream, command)
        yield from ahead.drop(command)
        return answer

    def _carried_out(self, stream: Stream, command: Command) -> Command | None:
        try:
            answer, events = self._handle(self.state, command, stream.number, self.now(), stream)
        except Exception as error:
            log.exception("request %s from %s failed", command, stream.peer)
            answer, events = (
                reply(command, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"),
                (),
            )
        if events or command.code in _WRITTEN:
            keeper = self._keeper_of(command.code, events)
            if keeper is not None:
                keeper.keep(lambda failure: self._kept(stream, command, answer, events, failure))
                return None
            self._publish(events, request_name(command.code), stream.peer)
        return None if command.is_oneway else answer

    def closed(self, stream: Stream) -> None:
        self.bounds.left(stream)
        if stream not in self._streams:
            return
        self._streams.discard(stream)
        self.counters.unintelligible += stream.connection.error is not None
        cause = "channel idle" if stream in self._idle else "channel closed"
        self._idle.discard(stream)
        if not self._stopped:
            self._publish(liveness.channel_closed(self.state.tables, stream.number), cause, stream.peer)

    def _keeper_of(
        self, code: int, events: Sequence[Event]
    ) -> Keeper[Tables] | Keeper[dict[str, str]] | None:
        """Who writes what a request changed, or found changed by one that is not on the disk yet."""
        if code not in _WRITTEN:
            return None
        keeper = self._settings_keeper if code == RequestCode.UPDATE_NAMESRV_CONFIG else self._kv_keeper
        return keeper if events or keeper.is_writing else None

    def _kept(
        self,
        stream: Stream,
        command: Command,
        answer: Command,
        events: Sequence[Event],
        failure: Exception | None,
    ) -> None:
        if failure is None:
            self._publish(events, request_name(command.code), stream.peer)
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
        self.counters.published(events)
        if self._journal is not None:
            self._journal.publish(events, cause, client)
        for event in events:
            say(event, cause, client)
            if isinstance(event, SettingsChanged) and event.concerns("logLevel"):
                self._say_from(self.state.settings.logLevel)
            if isinstance(event, MinBrokerIdChanged) and self.state.settings.notifyMinBrokerIdChanged:
                self._notices.send(event)

    def toggle_debugging(self) -> None:
        """Say all there is to say, or again no more than the settings want."""
        self._say_from(self.state.settings.logLevel if log.isEnabledFor(logging.DEBUG) else "DEBUG")

    def _say_from(self, level: str) -> None:
        self.state.shown.pop("logLevel", None)
        if level != self.state.settings.logLevel:
            self.state.shown["logLevel"] = level
        set_level(level)
        self._arrange()

    def _arrange(self) -> None:
        """Put around the handlers what is wanted, and nothing else: each request goes through it."""
        measured = handle if self._http is None else self.counters.measured(handle)
        is_loud = log.isEnabledFor(logging.DEBUG)
        self._handle = told(measured) if is_loud else measured
        if is_loud or self._draining is not None or not self.state.settings.fastPath:
            self._quick.end()
        else:
            self._quick.begin()

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
            if stream in self._idle:
                # It has had a second to take what it was sent.
                stream.abort()
                continue
            log.info("closing %s, idle for %d s", stream.peer, limit)
            self._idle.add(stream)
            self.counters.idle += 1
            stream.close()
