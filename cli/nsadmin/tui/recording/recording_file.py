"""The file format of recordings: all polls as JSON lines, compressed with zstd."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import zstandard

from namesrv_core import private_files
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    MessagesPolled,
    NameServerPolled,
    decode_poll,
    encode_poll,
)

RECORDING_FORMAT = "nsadmin-recording"
RECORDING_VERSION = 1
_MAX_LINE_BYTES = 64 * 1024 * 1024
"""A short file can inflate to one line of gigabytes. A poll of 10,000 topics has less than a megabyte."""


class InvalidRecordingError(Exception):
    """The file is not a valid recording. The text has the reason."""


class RecordingHead(msgspec.Struct, frozen=True):
    """The first line of a recording: format, version, and the recorded cluster."""

    format: str
    version: int
    label: str
    addrs: Sequence[str]


class PollRecorder:
    """Writes a recording in a thread, so that a slow disk does not delay the screen.

    It calls `report_failure` once if it cannot write the file.
    """

    def __init__(self, path: Path, label: str, addrs: Sequence[str]) -> None:
        """Create the file, or replace an existing one. Raises OSError."""
        self._output_file = open(  # noqa: SIM115 - the thread closes it
            path, "wb", opener=private_files.open_private_file
        )
        self.report_failure: Callable[[OSError], object] = lambda error: None
        self._last_polls: dict[str, NameServerPolled] = {}
        self._batch_queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._writer_thread = threading.Thread(target=self._write_batches, daemon=True)
        self._writer_thread.start()
        head = RecordingHead(RECORDING_FORMAT, RECORDING_VERSION, label, list(addrs))
        self._batch_queue.put(msgspec.json.encode(head) + b"\n")

    def record_polls(self, polls: Sequence[AnyPoll]) -> None:
        """Queue polls for writing, without the fields that a name server repeats unchanged.

        Messages are left out: recordings are shared, and bodies are confidential.
        """
        recorded_polls = [poll for poll in polls if not isinstance(poll, MessagesPolled)]
        self._batch_queue.put(b"".join(encode_poll(self._omit_unchanged(poll)) for poll in recorded_polls))

    def _omit_unchanged(self, poll: AnyPoll) -> AnyPoll:
        if not isinstance(poll, NameServerPolled) or poll.error is not None:
            return poll
        previous = self._last_polls.get(poll.addr)
        self._last_polls[poll.addr] = poll
        if previous is None:
            return poll
        is_kept = {
            name: getattr(previous, name) == getattr(poll, name) for name in ("topics", "settings", "kv")
        }
        unchanged_fields = [name for name, is_unchanged in is_kept.items() if is_unchanged]
        return msgspec.structs.replace(poll, **dict.fromkeys(unchanged_fields))

    @property
    def pending_batches(self) -> int:
        """The number of batches that are not written yet."""
        return self._batch_queue.qsize()

    def close(self) -> None:
        """Write all queued batches, for at most 5 s, and close the file."""
        self._batch_queue.put(None)
        self._writer_thread.join(5)

    def _write_batches(self) -> None:
        compressor = zstandard.ZstdCompressor(level=3)
        try:
            with self._output_file as file, compressor.stream_writer(file) as stream_writer:
                while (encoded_batch := self._batch_queue.get()) is not None:
                    stream_writer.write(encoded_batch)
                    # Flush each batch: after a kill, the recording lacks only the last one.
                    stream_writer.flush(zstandard.FLUSH_BLOCK)
                    file.flush()
        except OSError as error:
            self.report_failure(error)


class _PollHeader(msgspec.Struct):
    at: int
    addr: str = ""


_header_decoder = msgspec.json.Decoder(_PollHeader)
_BROKER_POLL_PREFIX = b'{"poll":"broker",'
_SPARKLINE_MS = 600_000
"""The time (ms) that a sparkline covers. A replay needs only the last of the older polls of a broker."""


class Recording:
    """A tape for replays that reads a recording while it is played, up to the last complete line.

    The constructor reads the whole file once to find its end. Raises InvalidRecordingError and OSError.
    """

    def __init__(self, path: Path) -> None:
        self._file_path = path
        lines = _read_lines(path)
        try:
            self.head = msgspec.json.decode(next(lines, b""), type=RecordingHead)
        except (msgspec.DecodeError, RecursionError):
            raise InvalidRecordingError("not a recording of nsadmin tui") from None
        found_format = (self.head.format, self.head.version)
        if found_format != (RECORDING_FORMAT, RECORDING_VERSION):
            raise InvalidRecordingError(
                f"{found_format[0]} of version {found_format[1]} is not supported: this nsadmin reads "
                f"version {RECORDING_VERSION}"
            )
        times = (header.at for header, _ in _read_headers(lines))
        self.begin = self.end = next(times, 0)
        if not self.begin:
            raise InvalidRecordingError("the file is empty")
        for at_ms in times:
            self.end = at_ms

    def start(self, start_ms: int) -> Iterator[AnyPoll]:
        """Yield the earlier polls that a replay from this time needs, then all later polls."""
        lines = _read_lines(self._file_path)
        next(lines)
        horizon_ms, held = start_ms - _SPARKLINE_MS, dict[str, bytes]()
        for header, line in _read_headers(lines):
            if held and header.at >= horizon_ms:
                yield from _decode_polls(held.values())
                held = {}
            if header.at >= horizon_ms or not line.startswith(_BROKER_POLL_PREFIX):
                yield from _decode_polls([line])
            elif b'"table":' in line:
                held[header.addr] = line
            else:
                # The screen shows the last figures of a silent broker: yield them before its error.
                previous_line = held.pop(header.addr, None)
                yield from _decode_polls([line] if previous_line is None else [previous_line, line])
        yield from _decode_polls(held.values())


def _read_headers(lines: Iterator[bytes]) -> Iterator[tuple[_PollHeader, bytes]]:
    for line in lines:
        try:
            yield _header_decoder.decode(line), line
        except (msgspec.DecodeError, RecursionError):
            # nsadmin was killed while it wrote this line.
            return


def _decode_polls(lines: Iterable[bytes]) -> Iterator[AnyPoll]:
    """Decode lines; a line without a poll is omitted."""
    for line in lines:
        try:
            poll = decode_poll(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        yield poll


def _read_lines(path: Path) -> Iterator[bytes]:
    line_pieces, line_bytes = list[bytes](), 0
    with open(path, "rb") as file:
        chunks = zstandard.ZstdDecompressor().read_to_iter(file, read_size=1 << 18)
        try:
            for chunk in chunks:
                first_piece, *other_pieces = chunk.split(b"\n")
                line_pieces.append(first_piece)
                line_bytes += len(first_piece)
                if line_bytes > _MAX_LINE_BYTES:
                    raise InvalidRecordingError(f"a line has more than {_MAX_LINE_BYTES} bytes")
                if other_pieces:
                    yield b"".join(line_pieces)
                    yield from other_pieces[:-1]
                    line_pieces, line_bytes = other_pieces[-1:], len(other_pieces[-1])
        except zstandard.ZstdError as error:
            raise InvalidRecordingError(f"not compressed like a recording: {error}") from None
