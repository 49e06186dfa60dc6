"""NameServer, which starts, serves and stops. It reads the clock and passes the time to all other parts."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.events import Event, MinBrokerIdChanged, SettingsChanged
from namesrv_core.handlers import access_guard, registration_precompute, stepped_reply
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.server import access_control, connection_limits, journal_publisher, tls_certificates
from namesrv_core.server.access_control import AccessControl
from namesrv_core.server.broker_departures import BrokerDepartures
from namesrv_core.server.broker_notices import BrokerNotices
from namesrv_core.server.connection_limits import IdleStreams
from namesrv_core.server.counters import HandleFunction, ServerCounters
from namesrv_core.server.graceful_shutdown import GracefulShutdown
from namesrv_core.server.journal_recorder import JournalFigures, describe_error
from namesrv_core.server.log import log, log_event, set_level
from namesrv_core.server.periodic_tasks import LoopLagMonitor, PeriodicTasks, begin_with_pause
from namesrv_core.server.request_log import log_requests
from namesrv_core.server.response_cache import RouteResponseCache
from namesrv_core.server.state_persistence import PERSISTED_REQUESTS, StatePersistence
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.storage import kv_file
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.command_stream import AnswerSteps, CommandStream
from namesrv_core.transport.listener import StreamListener

if TYPE_CHECKING:
    from namesrv_core.transport.http_server import HttpListener

SecondsClock = Callable[[], float]
"""Seconds since 1970."""
_MIN_SCAN_SECONDS = 0.1
FIRST_SCAN_SECONDS = 5.0
"""The delay of the first scan for silent brokers, whatever the interval (NamesrvController of 5.5.0)."""


def build_steady_clock() -> SecondsClock:
    """Build a clock that starts at the current time and ignores later changes of the system clock."""
    epoch_offset = time.time() - time.monotonic()
    return lambda: epoch_offset + time.monotonic()


class NameServer:
    """A name server on one address.

    `steady_clock` never goes back. `wall_clock` is the system clock, which dates the journal's records. The
    constructor raises OSError and RocketMQError, `start` raises OSError.
    """

    def __init__(
        self,
        settings: NameServerSettings,
        steady_clock: SecondsClock | None = None,
        wall_clock: SecondsClock = time.time,
    ) -> None:
        self._steady_clock = steady_clock or build_steady_clock()
        self.state = NameServerState(
            settings, KvConfig(kv_file.load_kv_tables(Path(settings.kvConfigPath))), self.now_ms()
        )
        self.counters = ServerCounters()
        self._response_cache = RouteResponseCache(self.state, self.counters)
        self._handle_request: HandleFunction = handle_request
        self._loop_lag = LoopLagMonitor(self.counters.loop_lag)
        self._open_streams: set[CommandStream] = set()
        self._listener: StreamListener
        self._http: HttpListener | None = None
        self._shutdown: GracefulShutdown | None = None
        self._is_frozen = False
        self._idle = IdleStreams(settings, self._open_streams, self.counters)
        self._is_stopped = False
        self.connection_limits = connection_limits.ConnectionLimits(
            settings,
            self.state.limit_hits,
            self._open_streams,
            time.thread_time if steady_clock is None else steady_clock,
        )
        self._departures = BrokerDepartures(
            self.state.tables,
            self._open_streams,
            self.connection_limits.stream_quotas.fair_scheduler,
            self._publish_events,
        )
        self.state.actual_settings.update(settings.tls.shown_items())
        self.tls_certificates = tls_certificates.TlsCertificates(settings.tls)
        self._notices = BrokerNotices(tls_certificates.build_outgoing_context(settings.tls))
        self.access_control = AccessControl(self.state)
        self._tasks = PeriodicTasks(
            (
                begin_with_pause(
                    FIRST_SCAN_SECONDS,
                    lambda: max(settings.scanNotActiveBrokerInterval / 1000, _MIN_SCAN_SECONDS),
                ),
                lambda: self._departures.expire_silent_brokers(self.now_ms()),
            ),
            (lambda: connection_limits.CHECK_SECONDS, self._idle.close_idle_streams),
            (lambda: journal_publisher.TICK_MS / 1000, self._tick_journal),
            (lambda: access_control.TICK_SECONDS, lambda: self.access_control.handle_tick(self.now_ms())),
            (lambda: connection_limits.CHECK_SECONDS, self.connection_limits.cut_off_slow_streams),
            (lambda: tls_certificates.CHECK_SECONDS, self.tls_certificates.start_file_check),
        )
        self.state_persistence = StatePersistence(self.state)
        self._publisher = journal_publisher.open_journal(
            self.state, self.state_persistence.persisted_copies, wall_clock
        )

    def now_ms(self) -> int:
        """Milliseconds since 1970. The clock is steady, so a change of the system clock expires no broker."""
        return int(self._steady_clock() * 1000)

    @property
    def bound_host_port(self) -> tuple[str, int]:
        return self._listener.bound_host, self._listener.bound_port

    @property
    def namesrv_addr(self) -> str:
        return join_addr(*self.bound_host_port)

    @property
    def open_streams(self) -> Collection[CommandStream]:
        return self._open_streams

    def unready_reason(self) -> str | None:
        """The reason why route lookups are not answered; None if they are."""
        if self._shutdown is not None or self._is_stopped:
            return "stopping"
        settings, running_ms = self.state.settings, self.now_ms() - self.state.started_at_ms
        if settings.needWaitForService and running_ms < settings.waitSecondsForService * 1000:
            return f"waiting for brokers to register until {settings.waitSecondsForService} s after the start"
        return "paused" if self._is_frozen else None

    @property
    def shutdown_wait_seconds(self) -> int:
        """How many seconds `stop` sends clients to other servers; 0 if it ends at once."""
        settings = self.state.settings
        return max(settings.shutdownWaitTimeSeconds, 0) if settings.enableShutdownGracefully else 0

    def read_journal_figures(self) -> JournalFigures | None:
        return None if self._publisher is None else self._publisher.read_figures()

    async def start(self) -> None:
        settings = self.state.settings
        self._listener = await StreamListener.open(
            self,
            settings.bindAddress,
            settings.listenPort,
            settings.serverSocketBacklog,
            self._response_cache,
            self.tls_certificates.tls_policy,
            self.connection_limits.stream_quotas,
        )
        self.state.actual_settings["listenPort"] = str(self._listener.bound_port)
        if settings.httpAddress is not None:
            await self._serve_http(settings.httpAddress)
        self._arrange_handlers()
        if self._publisher is not None:
            name = settings.journalServerId or join_addr(socket.gethostname(), self._listener.bound_port)
            self._publisher.start(self.namesrv_addr, name, self.now_ms())
        self._tasks.start()

    async def _serve_http(self, listen_text: str) -> None:
        # Imported late, so that a server without HTTP port loads neither h11 nor prometheus_client.
        from namesrv_core.server import http_pages

        try:
            self._http = await http_pages.open_http_pages(self, listen_text)
        except (OSError, RocketMQError) as error:
            self._listener.close()
            raise RocketMQError(f"cannot serve HTTP at {listen_text}: {describe_error(error)}") from None
        self._loop_lag.start()
        self.state.actual_settings["httpAddress"] = self._http.bound_addr
        log.info("HTTP at http://%s", self._http.bound_addr)

    def take_snapshot(self) -> None:
        """Write all tables to the journal, if there is one."""
        if self._publisher is not None:
            self._publisher.take_snapshot("request", self.now_ms())

    def reload_files(self) -> None:
        self.access_control.reload_credentials()
        self.tls_certificates.reload_files()

    async def stop(self, stop_reason: str = "stop requested") -> None:
        """Send clients to other servers for the time in the settings, finish all writes and close."""
        if self.shutdown_wait_seconds:
            log.info(
                "shutting down: redirecting clients to other name servers for %d s",
                self.shutdown_wait_seconds,
            )
            self._response_cache.disable_cache()
            self._shutdown = GracefulShutdown(self.state.tables, self._open_streams, self.counters)
            await self._shutdown.wait_for_clients(self.shutdown_wait_seconds)
            log.info("answered %d requests with GO_AWAY", self.counters.go_away_count)
        self._stop_serving()
        self.access_control.log_refusals(self.now_ms())
        await self.state_persistence.finish_writes()
        for stream in list(self._open_streams):
            stream.close()
        if self._publisher is not None:
            publisher, self._publisher = self._publisher, None
            await asyncio.to_thread(publisher.stop, stop_reason)

    def hurry_shutdown(self) -> None:
        """Stop waiting for clients, so that a `stop` in progress ends soon."""
        if self._shutdown is not None:
            self._shutdown.end_wait()

    async def stop_abruptly(self) -> None:
        """End like a killed process: break all connections without notice."""
        self._stop_serving()
        for stream in list(self._open_streams):
            stream.abort()
        if self._publisher is not None:
            await asyncio.to_thread(self._publisher.stop, None)
            self._publisher = None

    def _stop_serving(self) -> None:
        """Accept no more connections and stop all timers."""
        self._is_stopped = True
        self._listener.close()
        self.tls_certificates.stop()
        if self._http is not None:
            self._http.close()
        self._loop_lag.stop()
        self._tasks.stop()
        self._departures.stop()
        self._notices.stop()

    def freeze(self) -> None:
        """Behave like a suspended process: accept connections, but read nothing."""
        self._is_frozen = True
        self._tasks.stop()
        for stream in self._open_streams:
            stream.hold_reading()

    def thaw(self) -> None:
        """Continue after `freeze`: read what arrived, then run the tasks that are due."""
        self._is_frozen = False
        for stream in self._open_streams:
            stream.release_reading()
        self._tasks.resume_tasks()

    def stream_opened(self, stream: CommandStream) -> None:
        if not self.connection_limits.admit_stream(stream):
            stream.abort()
            return
        self._open_streams.add(stream)
        self.counters.opened_count += 1
        log.debug("connection %d from %s", stream.channel_id, stream.peer_addr)
        if self._is_frozen:
            stream.hold_reading()

    def command_received(
        self, stream: CommandStream, command: RemotingCommand
    ) -> RemotingCommand | AnswerSteps | None:
        if command.is_reply:
            return None
        if self._shutdown is not None:
            go_away_reply = self._shutdown.answer_go_away(stream, command)
            if go_away_reply is not None:
                return None if command.is_oneway else go_away_reply
        if len(command.body) >= registration_precompute.LARGE_BODY_BYTES:
            steps = registration_precompute.precompute_steps(self.state, command, self.now_ms(), stream)
            if steps is not None:
                return self._answer_in_steps(stream, command, steps)
        answer = self._carry_out_request(stream, command)
        return answer.complete_in_steps() if isinstance(answer, stepped_reply.SteppedReply) else answer

    def _answer_in_steps(
        self, stream: CommandStream, command: RemotingCommand, steps: registration_precompute.PrecomputeSteps
    ) -> AnswerSteps:
        try:
            command = yield from steps
        except Exception:
            # The handler will raise the same error and answer it.
            log.debug("cannot precompute %s", command, exc_info=True)
        answer = self._carry_out_request(stream, command)
        yield from registration_precompute.release_precomputed(command)
        return answer

    def _carry_out_request(self, stream: CommandStream, command: RemotingCommand) -> RemotingCommand | None:
        try:
            answer, events = self._handle_request(
                self.state, command, stream.channel_id, self.now_ms(), stream
            )
        except Exception as error:
            log.exception("request %s from %s failed", command, stream.peer_addr)
            answer, events = (
                build_reply(command, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"),
                (),
            )
        if access_guard.is_claim_refused(answer):
            stream.protocol_connection.lower_frame_limit(effective_limit(self.state.settings.maxBodyBytes))
        if events or command.code in PERSISTED_REQUESTS:
            persister = self.state_persistence.persister_of_request(command.code, events)
            if persister is not None:
                persister.persist_change(
                    lambda failure: self._answer_persisted(stream, command, answer, events, failure)
                )
                return None
            self._publish_events(events, RequestCode.name_of(command.code), stream.peer_addr)
        return None if command.is_oneway else answer

    def stream_closed(self, stream: CommandStream) -> None:
        self.connection_limits.release_stream(stream)
        if stream not in self._open_streams:
            return
        self._open_streams.discard(stream)
        self.counters.unintelligible_count += stream.protocol_connection.error is not None
        cause = "channel idle" if self._idle.forget_stream(stream) else "channel closed"
        if not self._is_stopped:
            self._departures.end_channel(stream.channel_id, cause, stream.peer_addr)

    def _answer_persisted(
        self,
        stream: CommandStream,
        command: RemotingCommand,
        answer: RemotingCommand,
        events: Sequence[Event],
        failure: Exception | None,
    ) -> None:
        if failure is None:
            self._publish_events(events, RequestCode.name_of(command.code), stream.peer_addr)
        else:
            log.error(
                "could not save the change of request %d from %s: %s", command.code, stream.peer_addr, failure
            )
            answer = build_reply(
                command,
                ResponseCode.SYSTEM_ERROR,
                remark=f"not changed, the change could not be saved: {failure}",
            )
        if not command.is_oneway:
            stream.send_command(answer)

    def _publish_events(self, events: Sequence[Event], cause: str, client_addr: str | None = None) -> None:
        self.counters.count_events(events)
        if self._publisher is not None and self._publisher.publish_events(events, cause, client_addr):
            asyncio.get_running_loop().call_soon(self._tick_journal)
        for event in events:
            log_event(event, cause, client_addr)
            if isinstance(event, SettingsChanged) and any(c.key == "logLevel" for c in event.setting_changes):
                self._set_log_level(self.state.settings.logLevel)
            if isinstance(event, MinBrokerIdChanged) and self.state.settings.notifyMinBrokerIdChanged:
                self._notices.send_min_id_notice(event)

    def toggle_debugging(self) -> None:
        """Switch the log level to DEBUG, or back to the level in the settings."""
        self._set_log_level(self.state.settings.logLevel if log.isEnabledFor(logging.DEBUG) else "DEBUG")

    def _set_log_level(self, log_level: str) -> None:
        self.state.actual_settings.pop("logLevel", None)
        if log_level != self.state.settings.logLevel:
            self.state.actual_settings["logLevel"] = log_level
        set_level(log_level)
        self._arrange_handlers()

    def _arrange_handlers(self) -> None:
        """Wrap the handlers with only the wrappers in use, because every request passes through them."""
        handler = handle_request if self._http is None else self.counters.measure_requests(handle_request)
        is_debugging = log.isEnabledFor(logging.DEBUG)
        self._handle_request = log_requests(handler) if is_debugging else handler
        if is_debugging or self._shutdown is not None or not self.state.settings.fastPath:
            self._response_cache.disable_cache()
        else:
            self._response_cache.enable_cache()

    def _tick_journal(self) -> None:
        if self._publisher is not None:
            self._publisher.handle_tick(self.now_ms())
