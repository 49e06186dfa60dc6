"""CommandStream, a connection that carries commands: flow control, turns and the peer's identity.

The answers to one read are written together. While the peer does not accept them, nothing more is read from
it. A stream with many or slow requests shares the event loop with others through the FairScheduler. Its
RateLimiter decides when it rests.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol, cast

from namesrv_core.errors import FrameOverLimit
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.answer_work import AnswerSteps as AnswerSteps
from namesrv_core.transport.answer_work import AnswerWork
from namesrv_core.transport.fair_scheduler import TURN_SECONDS, FairScheduler
from namesrv_core.transport.rate_limits import RateLimiter, StreamQuotas

_PIECE_BYTES = 1 << 14
"""Bytes that are processed in one turn: about 150 client requests."""
_MANY_PAYLOADS = 32
_LARGE_ANSWER_BYTES = 1 << 16
_BYTES_OBJECT_BYTES = 48
"""The memory of a small bytes object in a list, without its content."""


class StreamOwner(Protocol):
    """The owner of a stream, which handles its commands."""

    def stream_opened(self, stream: "CommandStream") -> None: ...

    def command_received(
        self, stream: "CommandStream", command: RemotingCommand
    ) -> RemotingCommand | AnswerSteps | None:
        """Handle a command. A returned command is sent as the answer; returned steps run in turns.

        Later commands of the stream wait until the steps have ended.
        """

    def stream_closed(self, stream: "CommandStream") -> None: ...


class ResponseCache(Protocol):
    """A cache of answers by the bytes of their requests. `learn_answer` receives the owner's answers."""

    def find_answers(self, payloads: list[bytes], max_body_bytes: int) -> tuple[Sequence[bytes], int]:
        """Answer the first requests, as many as are cached, until the answers exceed `max_body_bytes`.

        Removes these requests from the list. Returns the pieces of the answers and their size.
        """

    def learn_answer(self, payload: bytes, request: RemotingCommand, answer: RemotingCommand) -> None: ...


class CommandStream(asyncio.Protocol):
    """A connection of `stream_owner`. `channel_id` is unique in this process and never reused.

    `host` is the peer's address without its port. `subject` is the subject of a verified client certificate
    ("CN=ops,O=Example": RFC 4514, most specific first), or None. `frame_count` and `byte_count` count what
    was read, and `undecrypted_bytes` what its TlsTransport still holds of it. `full_since` is when the peer
    stopped accepting data (loop time), or None. `rate_limiter` keeps the rate limits.
    """

    _last_channel_id = 0

    def __init__(
        self,
        stream_owner: StreamOwner,
        response_cache: ResponseCache | None = None,
        stream_quotas: StreamQuotas | None = None,
    ) -> None:
        CommandStream._last_channel_id += 1
        self.channel_id = CommandStream._last_channel_id
        self.peer_addr = ""
        self.host = ""
        self.subject: str | None = None
        self.active_at = 0.0
        self.frame_count = self.byte_count = self.undecrypted_bytes = 0
        self.full_since: float | None = None
        self._quotas = stream_quotas = stream_quotas or StreamQuotas()
        self.protocol_connection = ProtocolConnection(stream_quotas.decode_limits)
        self._is_held = False
        self._held_bytes = self._unsent_bytes = 0
        self._is_behind = self._is_queued = False
        self._unread_bytes = b""
        self._payloads: list[bytes] = []
        self._work: AnswerWork | None = None
        self.work_clock = stream_quotas.work_clock
        self._stream_owner = stream_owner
        self._response_cache = response_cache
        self._transport: asyncio.Transport
        self._socket_transport: asyncio.Transport
        self._loop = asyncio.get_running_loop()
        self.rate_limiter = RateLimiter(stream_quotas, self._loop)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport has the interface of asyncio.Transport, but is not a subclass.
        self._transport = self._socket_transport = cast(asyncio.Transport, transport)
        self.active_at = self.rate_limiter.refilled_at = self._loop.time()
        peer = transport.get_extra_info("peername")
        if peer:
            self.host = peer[0]
            self.peer_addr = join_addr(*peer[:2])
        self._stream_owner.stream_opened(self)

    @property
    def fair_scheduler(self) -> FairScheduler:
        return self._quotas.fair_scheduler

    def use_transport(self, transport: asyncio.Transport) -> None:
        """Use a transport that wraps the original one, for example a TlsTransport."""
        self._transport = transport

    # Reading.

    def data_received(self, data: bytes) -> None:
        if self._is_held or self._is_behind:
            # This data arrived before the transport paused reading.
            self._unread_bytes += data
            return
        self.active_at = self._loop.time()
        if self.rate_limiter.is_slow or (
            len(data) > _PIECE_BYTES and len(data) > self.protocol_connection.missing_bytes
        ):
            self._unread_bytes = data
            self._fall_behind()
            return
        payloads = self._split_frames(data)
        if len(payloads) == 1:
            pieces, _ = self._find_cached_answers(payloads, _LARGE_ANSWER_BYTES)
            if payloads:
                began = self.work_clock()
                pieces = self._answer_payload(payloads[0])
                if self._work is not None:
                    self._fall_behind()
                    return
                self.rate_limiter.rest_after_work(self, self.work_clock() - began)
            if pieces:
                self._write_pieces(pieces)
        elif payloads:
            self._payloads += payloads
            if len(payloads) > _MANY_PAYLOADS or not self._answer_payloads():
                self._fall_behind()
                return
        if self.protocol_connection.error is not None:
            self._close_refused()

    def _split_frames(self, received: bytes) -> list[bytes]:
        payloads = self.protocol_connection.split_frames(received)
        self.frame_count += len(payloads)
        self.byte_count += len(received)
        limiter = self.rate_limiter
        if self.frame_count > limiter.frames_granted or self.byte_count > limiter.bytes_granted:
            limiter.refill_grants(self)
        if self._held_bytes or not payloads:
            self._report_held_bytes()
        return payloads

    def _find_cached_answers(self, payloads: list[bytes], max_body_bytes: int) -> tuple[Sequence[bytes], int]:
        return (
            ((), 0)
            if self._response_cache is None
            else self._response_cache.find_answers(payloads, max_body_bytes)
        )

    def _answer_payload(self, payload: bytes) -> Sequence[bytes]:
        """The pieces of the answer to a frame; none if it is invalid, which also ends reading."""
        command = self.protocol_connection.decode_payload(payload)
        answer = None if command is None else self._stream_owner.command_received(self, command)
        if command is None or answer is None:
            return ()
        if not isinstance(answer, RemotingCommand):
            self._work = AnswerWork(answer, len(payload), self._quotas.work_memory, self.resume_work)
            return ()
        if self._response_cache is not None:
            self._response_cache.learn_answer(payload, command, answer)
        return codec.encode_command_parts(answer)

    def _answer_payloads(self) -> bool:
        """Answer waiting requests for one turn. Return whether all are answered."""
        turn_ends_at = self.work_clock() + TURN_SECONDS
        pieces: list[bytes] = []
        payloads = self._payloads
        answer = 0
        while payloads and self.full_since is None:
            # Cached answers take a microsecond each, so only their size limits the turn.
            new_pieces, new = self._find_cached_answers(payloads, _LARGE_ANSWER_BYTES - answer)
            pieces += new_pieces
            answer += new
            if not payloads or answer > _LARGE_ANSWER_BYTES:
                break
            new_pieces = self._answer_payload(payloads.pop(0))
            pieces += new_pieces
            answer += sum(map(len, new_pieces))
            if self.protocol_connection.error is not None:
                payloads.clear()
            if self._work is not None:
                break
            if answer > _LARGE_ANSWER_BYTES or self.work_clock() > turn_ends_at:
                # Whether the peer accepts the answers is only visible between two turns.
                break
        if pieces:
            self._write_pieces(pieces)
        return not payloads and self._work is None

    def _advance_work(self, work: AnswerWork) -> None:
        """Run steps for one turn. After the last step send the answer."""
        if work.take_turn(self.work_clock):
            self._work = None
            if work.answer is not None:
                self._write_pieces(codec.encode_command_parts(work.answer))
            self.rate_limiter.rest_after_work(self, work.seconds)
        self._report_held_bytes()

    def _fall_behind(self) -> None:
        self._is_behind = True
        self.update_reading()
        self._report_held_bytes()
        self._queue_up()

    def _queue_up(self) -> None:
        if not self._is_queued:
            self._is_queued = True
            self._quotas.fair_scheduler.add_work(self._take_turn)

    def _take_turn(self) -> bool:
        self._is_queued = self._do_next_work()
        return self._is_queued

    def _do_next_work(self) -> bool:
        if self._transport.is_closing():
            self._drop_unread()
            return False
        # `resume_work` queues the stream again when any of these waits ends.
        if self._is_held or self.rate_limiter.is_resting:
            return False
        work = self._work
        if work is not None:
            # Also if the peer accepts no answers: others may wait for the memory of this work.
            self._advance_work(work)
            return self._end_turn() and not work.is_waiting
        if self.full_since is not None:
            return False
        began = self.work_clock()
        if not self._payloads and self._unread_bytes:
            end = max(_PIECE_BYTES, min(self.protocol_connection.missing_bytes, len(self._unread_bytes)))
            piece_bytes, self._unread_bytes = self._unread_bytes[:end], self._unread_bytes[end:]
            self._payloads += self._split_frames(piece_bytes)
        self._answer_payloads()
        self.rate_limiter.rest_after_work(self, self.work_clock() - began)
        return self._end_turn()

    def _end_turn(self) -> bool:
        """Return whether work is left. If not, resume reading."""
        if (
            self._work is not None
            or self._payloads
            or (self._unread_bytes and self.protocol_connection.error is None)
        ):
            return True
        self._is_behind = False
        self._report_held_bytes()
        if self.protocol_connection.error is not None:
            self._close_refused()
        self.update_reading()
        return False

    def _close_refused(self) -> None:
        error = self.protocol_connection.error
        if isinstance(error, FrameOverLimit):
            self.report_over_limit(error.limit_key, str(error.args[0]))
        self._transport.close()

    def _drop_unread(self) -> None:
        self._payloads.clear()
        self._unread_bytes = b""
        if self._work is not None:
            self._work.release_work()
            self._work = None

    # Reports to the observer.

    def report_over_limit(self, limit_key: str, text: str) -> None:
        """Report to the observer that the limit of the setting `limit_key` was exceeded."""
        self._quotas.quota_observer.report_over_limit(self, limit_key, text)

    def check_held_bytes(self) -> None:
        """Report what is held. Call it now and then: nothing else notices small answers that stay unsent."""
        unsent = self._socket_transport.get_write_buffer_size()
        if unsent or self._held_bytes or self.undecrypted_bytes:
            self._unsent_bytes = unsent
            self._report_held_bytes()

    def _report_held_bytes(self) -> None:
        held = (
            self.protocol_connection.unfinished_bytes
            + len(self._unread_bytes)
            + self.undecrypted_bytes
            + sum(map(len, self._payloads))
            + _BYTES_OBJECT_BYTES * len(self._payloads)
            + self._unsent_bytes
        )
        if self._work is not None:
            held += self._work.held_bytes
        if held != self._held_bytes:
            self._held_bytes = held
            self._quotas.quota_observer.report_held_bytes(self, held)

    # Writing.

    def _write_pieces(self, pieces: Sequence[bytes]) -> None:
        """Write the pieces together. Only the last one may be large: it is written without a copy."""
        if len(pieces[-1]) > _LARGE_ANSWER_BYTES:
            self._transport.write(b"".join(pieces[:-1]))
            self._transport.write(pieces[-1])
        else:
            self._transport.write(b"".join(pieces))

    def send_command(self, command: RemotingCommand) -> None:
        """Send an answer or a oneway command. A closed stream ignores it."""
        if not self._transport.is_closing():
            self.active_at = self._loop.time()
            self._transport.write(codec.encode_command(command))

    def send_request(self, command: RemotingCommand) -> None:
        """Send a request. The owner receives the answer."""
        if not self._transport.is_closing():
            self._transport.write(self.protocol_connection.encode_request(command))

    def pause_writing(self) -> None:
        self.full_since = self._loop.time()
        self.check_held_bytes()
        if self._unsent_bytes > self._quotas.max_unsent_bytes:
            self.report_over_limit("maxUnsentBytes", f"did not read {self._unsent_bytes} bytes of answers")
            self._transport.abort()
        self.update_reading()

    def resume_writing(self) -> None:
        self.full_since = None
        self.check_held_bytes()
        self.resume_work()

    def resume_work(self) -> None:
        """Continue after a pause of reading or writing has ended."""
        if self._is_behind and not self._transport.is_closing():
            self._queue_up()
        self.update_reading()

    def update_reading(self) -> None:
        """Pause or resume reading, as the state of the stream demands."""
        if self._transport.is_closing():
            return
        if self._is_held or self._is_behind or self.rate_limiter.is_resting or self.full_since is not None:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._drop_unread()
        self._quotas.quota_observer.report_held_bytes(self, 0)
        self._stream_owner.stream_closed(self)

    def hold_reading(self) -> None:
        """Read nothing until `release_reading`. Data from the peer waits."""
        # Deferred, because the transport of a new connection starts reading after this call.
        self._is_held = True
        self._loop.call_soon(self.update_reading)

    def release_reading(self) -> None:
        self._is_held = False
        if self._unread_bytes:
            self.active_at = self._loop.time()
            self._is_behind = True
        self.resume_work()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()
