"""Stream: a socket that carries commands. Flow control, activity, and who is at the other end.

What has to be said in answer to one read is written at once; while the peer does not take what is written,
nothing more is read from it. A stream that has much to do, or whose requests take long, takes turns with
others like it.
"""

import asyncio
from collections.abc import Generator, Sequence
from typing import Protocol, cast

from namesrv_core.errors import FrameOverLimit
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.connection import Connection
from namesrv_core.transport.address import join_addr
from namesrv_core.transport.allowance import Allowance
from namesrv_core.transport.turns import AT_ONCE, Turns

_PIECE = 1 << 14
"""Bytes that are looked at in one turn: some 150 questions of clients."""
_MANY = 32
_LONG = 0.02
_LARGE = 1 << 16


Work = Generator[None, None, Command | None]
"""What takes long, in steps of a millisecond, and ends with an answer."""


class Owner(Protocol):
    """Whoever a stream belongs to."""

    def opened(self, stream: "Stream") -> None: ...

    def received(self, stream: "Stream", command: Command) -> Command | Work | None:
        """A command came; what is returned is sent. Work is done in turns, and what comes behind it waits."""

    def closed(self, stream: "Stream") -> None: ...


class Shortcut(Protocol):
    """Answers that are found by the bytes of a request; `learn` is told what the owner answered."""

    def find(self, payloads: list[bytes], most: int) -> tuple[Sequence[bytes], int]:
        """Pieces of answers to the first requests, which are taken from the list, and what bytes these are
        for: as many as are known, until that is more than `most`.
        """

    def learn(self, payload: bytes, asked: Command, answer: Command) -> None: ...


class Stream(asyncio.Protocol):
    """One connection of `owner`. `number` is unique in this process and never used again.

    `host` is the address at the other end, without its port. `subject` is what a verified client certificate
    says who that is ("CN=ops,O=Example": RFC 4514, most specific first); None without one. So many `frames`
    and `bytes` were read; `full_since` is when the peer stopped to take what is written (loop time).
    """

    _numbers = 0

    def __init__(
        self, owner: Owner, shortcut: Shortcut | None = None, allowance: Allowance | None = None
    ) -> None:
        Stream._numbers += 1
        self.number = Stream._numbers
        self.peer = ""
        self.host = ""
        self.subject: str | None = None
        self.active_at = 0.0
        self.frames = self.bytes = 0
        self.full_since: float | None = None
        self._allowance = allowance = allowance or Allowance()
        self.connection = Connection(allowance.limits)
        self._is_held = self._is_resting = self._holds = False
        self._is_behind = self._is_queued = self._is_slow = False
        self._unread = b""
        self._payloads: list[bytes] = []
        self._at_work: Work | None = None
        self._worked = 0.0
        self._size_at_work = 0
        self._frames_granted, self._bytes_granted = allowance.frames, allowance.bytes
        self._clock = allowance.clock
        self._owner = owner
        self._shortcut = shortcut
        self._transport: asyncio.Transport
        self._socket: asyncio.Transport
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio.Transport, but does what one does.
        self._transport = self._socket = cast(asyncio.Transport, transport)
        self.active_at = self._refilled_at = self._loop.time()
        address = transport.get_extra_info("peername")
        if address:
            self.host = address[0]
            self.peer = join_addr(*address[:2])
        self._owner.opened(self)

    @property
    def turns(self) -> Turns:
        """Where those wait who have much to do."""
        return self._allowance.turns

    def go_through(self, transport: asyncio.Transport) -> None:
        """From now on what is said goes through `transport`, which stands before the one of the beginning."""
        self._transport = transport

    # Reading.

    def data_received(self, data: bytes) -> None:
        if self._is_held or self._is_behind:
            # It came before the transport had been told to read no more.
            self._unread += data
            return
        self.active_at = self._loop.time()
        if self._is_slow or (len(data) > _PIECE and len(data) > self.connection.missing):
            self._unread = data
            self._fall_behind()
            return
        payloads = self._split(data)
        if len(payloads) == 1:
            pieces, _ = self._found(payloads, _LARGE)
            if payloads:
                begun = self._clock()
                pieces = self._usual(payloads[0])
                if self._at_work is not None:
                    self._fall_behind()
                    return
                self._took(self._clock() - begun)
            if pieces:
                self._transport.write(b"".join(pieces))
        elif payloads:
            self._payloads += payloads
            if len(payloads) > _MANY or not self._work():
                self._fall_behind()
                return
        if self.connection.error is not None:
            self._refuse()

    def _split(self, data: bytes) -> list[bytes]:
        payloads = self.connection.split(data)
        self.frames += len(payloads)
        self.bytes += len(data)
        if self.frames > self._frames_granted or self.bytes > self._bytes_granted:
            self._refill()
        if self._holds or not payloads:
            self._account()
        return payloads

    def _found(self, payloads: list[bytes], most: int) -> tuple[Sequence[bytes], int]:
        return ((), 0) if self._shortcut is None else self._shortcut.find(payloads, most)

    def _usual(self, payload: bytes) -> Sequence[bytes]:
        """What is said to a frame, in pieces; nothing to garbage, after which nothing is read."""
        command = self.connection.decode(payload)
        answer = None if command is None else self._owner.received(self, command)
        if command is None or answer is None:
            return ()
        if not isinstance(answer, Command):
            self._at_work, self._worked = answer, 0.0
            self._size_at_work = len(payload)
            self._account()
            return ()
        if self._shortcut is not None:
            self._shortcut.learn(payload, command, answer)
        return codec.parts(answer)

    def _work(self) -> bool:
        """Answer what was read, for a while; whether all is answered."""
        until = self._clock() + AT_ONCE
        answers: list[bytes] = []
        payloads = self._payloads
        size = 0
        while payloads and self.full_since is None:
            # They take a microsecond each: their size is all that counts.
            pieces, much = self._found(payloads, _LARGE - size)
            answers += pieces
            size += much
            if not payloads or size > _LARGE:
                break
            pieces = self._usual(payloads.pop(0))
            answers += pieces
            size += sum(map(len, pieces))
            if self.connection.error is not None:
                payloads.clear()
            if self._at_work is not None:
                break
            if size > _LARGE or self._clock() > until:
                # Only between two turns is it seen whether the peer takes what is written.
                break
        if answers:
            self._transport.write(b"".join(answers))
        return not payloads and self._at_work is None

    def _go_on_with(self, work: Work) -> None:
        """Some steps of it; at its end its answer is sent."""
        begun = self._clock()
        try:
            while self._clock() - begun < AT_ONCE:
                next(work)
        except StopIteration as ended:
            self._at_work, self._size_at_work = None, 0
            if ended.value is not None:
                self._transport.write(b"".join(codec.parts(ended.value)))
            self._account()
        self._worked += self._clock() - begun
        self._took(0 if self._at_work is not None else self._worked)

    def _fall_behind(self) -> None:
        self._is_behind = True
        self._set_reading()
        self._queue_up()

    def _queue_up(self) -> None:
        if not self._is_queued:
            self._is_queued = True
            self._allowance.turns.add(self)

    def take_turn(self) -> bool:
        self._is_queued = self._take_turn()
        return self._is_queued

    def _take_turn(self) -> bool:
        if self._transport.is_closing():
            self._drop()
            return False
        if self._is_held or self.full_since is not None or self._is_resting:
            # Comes back by itself when that is over.
            return False
        if self._at_work is not None:
            self._go_on_with(self._at_work)
            return self._is_left()
        begun = self._clock()
        if not self._payloads and self._unread:
            end = max(_PIECE, min(self.connection.missing, len(self._unread)))
            data, self._unread = self._unread[:end], self._unread[end:]
            self._payloads += self._split(data)
        self._work()
        self._took(self._clock() - begun)
        return self._is_left()

    def _is_left(self) -> bool:
        """Whether there is more to do; if there is not, it is read again."""
        if self._at_work is not None or self._payloads or (self._unread and self.connection.error is None):
            return True
        self._is_behind = False
        if self.connection.error is not None:
            self._refuse()
        self._set_reading()
        return False

    def _refuse(self) -> None:
        error = self.connection.error
        if isinstance(error, FrameOverLimit):
            self._allowance.overseer.over(self, error.limit, str(error.args[0]))
        self._transport.close()

    def _drop(self) -> None:
        self._payloads.clear()
        self._unread = b""
        self._at_work = None

    # How much.

    def _refill(self) -> None:
        """More came than was granted: what time has granted since is added, or it has to pass first."""
        granted, now = self._allowance, self._loop.time()
        passed, self._refilled_at = now - self._refilled_at, now
        frames = min(granted.frames, self._frames_granted - self.frames + int(passed * granted.frames))
        size = min(granted.bytes, self._bytes_granted - self.bytes + int(passed * granted.bytes))
        self._frames_granted, self._bytes_granted = self.frames + frames, self.bytes + size
        pause = max(-frames / granted.frames, -size / granted.bytes)
        if pause > 0 and not self._is_resting:
            limit = "maxFramesPerSecond" if frames < 0 else "maxBytesPerSecond"
            granted.overseer.over(self, limit, f"it is read again in {pause:.1f} s")
            self._rest(pause)

    def _took(self, seconds: float) -> None:
        """What took long is followed by a rest: one connection has a tenth of this server at most."""
        self._is_slow = seconds > AT_ONCE
        if seconds > _LONG and not self._is_resting:
            self._rest(9 * seconds)

    def _rest(self, seconds: float) -> None:
        self._is_resting = True
        self._set_reading()
        self._loop.call_later(seconds, self._rested)

    def _rested(self) -> None:
        self._is_resting = False
        self._go_on()

    def _account(self) -> None:
        size = self.connection.unfinished + self._size_at_work + self._socket.get_write_buffer_size()
        self._holds = size > _LARGE
        self._allowance.overseer.holds(self, size if self._holds else 0)

    # Writing.

    def send(self, command: Command) -> None:
        """Answer or oneway, at any time; a stream that has closed meanwhile takes it silently."""
        if not self._transport.is_closing():
            self.active_at = self._loop.time()
            self._transport.write(codec.encode(command))

    def ask(self, command: Command) -> None:
        """A request whose answer the owner receives."""
        if not self._transport.is_closing():
            self._transport.write(self.connection.ask(command))

    def pause_writing(self) -> None:
        self.full_since = self._loop.time()
        self._account()
        size = self._socket.get_write_buffer_size()
        if size > self._allowance.unsent:
            self._allowance.overseer.over(self, "maxUnsentBytes", f"{size} bytes are waiting for it to read")
            self._transport.abort()
        self._set_reading()

    def resume_writing(self) -> None:
        self.full_since = None
        self._account()
        self._go_on()

    def _go_on(self) -> None:
        """Something that stood in the way is gone."""
        if self._is_behind and not self._transport.is_closing():
            self._queue_up()
        self._set_reading()

    def _set_reading(self) -> None:
        if self._transport.is_closing():
            return
        if self._is_held or self._is_behind or self._is_resting or self.full_since is not None:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._drop()
        self._allowance.overseer.holds(self, 0)
        self._owner.closed(self)

    def hold(self) -> None:
        """Read nothing until `release`; what the peer sends waits."""
        # Not at once: where the connection has just come about, its transport is about to begin to read.
        self._is_held = True
        self._loop.call_soon(self._set_reading)

    def release(self) -> None:
        self._is_held = False
        if self._unread:
            self.active_at = self._loop.time()
            self._is_behind = True
        self._go_on()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()
