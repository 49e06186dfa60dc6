"""The file format of recordings: all polls as JSON lines, compressed with zstd."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from nsadmin.tui.polls import AnyPoll, NameServerPolled, from_line, to_line

FORMAT = "nsadmin-recording"
VERSION = 1


class BadRecording(Exception):
    """The file is not a valid recording. The text has the reason."""


class Head(msgspec.Struct, frozen=True):
    """The first line of a recording: format, version, and the recorded cluster."""

    format: str
    version: int
    label: str
    addrs: Sequence[str]


class Recorder:
    """Writes a recording in a thread, so that a slow disk does not delay the screen.

    It calls `report_failure` once if it cannot write the file.
    """

    def __init__(self, file: Path, label: str, addrs: Sequence[str]) -> None:
        """Create the file, or replace an existing one. Raises OSError."""
        self._out = open(file, "wb")  # noqa: SIM115 - the thread closes it
        self.failed: Callable[[OSError], object] = lambda error: None
        self._told: dict[str, NameServerPolled] = {}
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()
        self._queue.put(msgspec.json.encode(Head(FORMAT, VERSION, label, list(addrs))) + b"\n")

    def keep(self, polls: Sequence[AnyPoll]) -> None:
        """Queue polls for writing, without the fields that a name server repeats unchanged."""
        self._queue.put(b"".join(to_line(self._shortened(poll)) for poll in polls))

    def _shortened(self, poll: AnyPoll) -> AnyPoll:
        if not isinstance(poll, NameServerPolled) or poll.error is not None:
            return poll
        before = self._told.get(poll.addr)
        self._told[poll.addr] = poll
        if before is None:
            return poll
        same = [name for name in ("topics", "settings", "kv") if getattr(before, name) == getattr(poll, name)]
        return msgspec.structs.replace(poll, **dict.fromkeys(same))

    @property
    def behind(self) -> int:
        """The number of batches that are not written yet."""
        return self._queue.qsize()

    def close(self) -> None:
        """Write all queued batches, for at most 5 s, and close the file."""
        self._queue.put(None)
        self._thread.join(5)

    def _write(self) -> None:
        compressor = zstandard.ZstdCompressor(level=3)
        try:
            with self._out as out, compressor.stream_writer(out) as writer:
                while (data := self._queue.get()) is not None:
                    writer.write(data)
                    # Flush each batch: after a kill, the recording lacks only the last one.
                    writer.flush(zstandard.FLUSH_BLOCK)
                    out.flush()
        except OSError as error:
            self.failed(error)


class _Glance(msgspec.Struct):
    at: int
    addr: str = ""


_glance = msgspec.json.Decoder(_Glance)
_BROKER = b'{"poll":"broker",'
_SPARKS = 600_000
"""The time (ms) that a sparkline covers. Of older polls of a broker, a replay needs only the last one."""


class Recording:
    """A tape for replays that reads a recording while it is played, up to the last complete line.

    The constructor reads the whole file once to find its end. Raises InvalidRecordingError and OSError.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = _lines(file)
        try:
            self.head = msgspec.json.decode(next(lines, b""), type=Head)
        except msgspec.DecodeError:
            raise BadRecording("it is no recording of nsadmin tui") from None
        known = (self.head.format, self.head.version)
        if known != (FORMAT, VERSION):
            raise BadRecording(f"it is {known[0]} of version {known[1]}, and this program knows {VERSION}")
        times = (glance.at for glance, _ in _glances(lines))
        self.begin = self.end = next(times, 0)
        if not self.begin:
            raise BadRecording("there is nothing in it")
        for at in times:
            self.end = at

    def start(self, at: int) -> Iterator[AnyPoll]:
        """Yield the earlier polls that a replay from this time needs, then all later polls."""
        lines = _lines(self._file)
        next(lines)
        horizon, held = at - _SPARKS, dict[str, bytes]()
        for glance, line in _glances(lines):
            if held and glance.at >= horizon:
                yield from map(from_line, held.values())
                held = {}
            if glance.at >= horizon or not line.startswith(_BROKER):
                yield from_line(line)
            elif b'"table":' in line:
                held[glance.addr] = line
            else:
                # The screen shows the last figures of a silent broker: yield them before its error.
                before = held.pop(glance.addr, None)
                yield from map(from_line, [line] if before is None else [before, line])
        yield from map(from_line, held.values())


def _glances(lines: Iterator[bytes]) -> Iterator[tuple[_Glance, bytes]]:
    for line in lines:
        try:
            yield _glance.decode(line), line
        except msgspec.DecodeError:
            # nsadmin was killed while it wrote this line.
            return


def _lines(file: Path) -> Iterator[bytes]:
    rest = b""
    with open(file, "rb") as source:
        chunks = zstandard.ZstdDecompressor().read_to_iter(source, read_size=1 << 18)
        try:
            for chunk in chunks:
                *whole, rest = (rest + chunk).split(b"\n")
                yield from whole
        except zstandard.ZstdError as error:
            raise BadRecording(f"it is not compressed as a recording is: {error}") from None
