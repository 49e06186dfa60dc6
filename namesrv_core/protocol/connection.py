"""The protocol state of one connection: received bytes in, commands out.

Server and client use it. A server answers the commands; a client matches answers with its own requests.
"""

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.frame import FrameReader
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits


class ProtocolConnection:
    """Pass received bytes to `feed_bytes`, and send the bytes that `encode_request` returns.

    After invalid bytes `error` is set: close the connection. Commands that were complete before those bytes
    are still returned. A frame that exceeds the limits counts as invalid. If `frame_sizes` is a list,
    `feed_bytes` fills it with the size of each frame in bytes.
    """

    def __init__(self, limits: DecodeLimits = NO_LIMITS) -> None:
        self._limits = limits
        self._frame_reader = FrameReader(limits.frame_bytes)
        self._pending: dict[int, RemotingCommand] = {}
        self.error: ProtocolError | None = None
        self.frame_sizes: list[int] | None = None

    @property
    def unfinished_bytes(self) -> int:
        """Bytes of memory that the unfinished frame takes; 0 between two frames."""
        return self._frame_reader.memory_bytes

    @property
    def missing_bytes(self) -> int:
        """The number of bytes that can be fed at once without completing a frame."""
        return self._frame_reader.missing_bytes - 1

    @property
    def pending_request_count(self) -> int:
        return len(self._pending)

    def lower_frame_limit(self, max_frame_bytes: int) -> None:
        """Accept no larger frame from now on, nor the rest of one that has begun."""
        self._frame_reader.max_frame_bytes = min(self._frame_reader.max_frame_bytes, max_frame_bytes)

    def feed_bytes(self, received: bytes) -> list[RemotingCommand]:
        """The commands that these bytes complete, in the order in which the peer sent them."""
        payloads = self.split_frames(received)
        if self.frame_sizes is not None:
            self.frame_sizes = [len(payload) + 4 for payload in payloads]
        commands = []
        for payload in payloads:
            command = self.decode_payload(payload)
            if command is None:
                break
            commands.append(command)
        return commands

    def split_frames(self, received: bytes) -> list[bytes]:
        """The payloads of the frames that these bytes complete, for a caller that decodes them one by one."""
        if self.error is not None:
            return []
        try:
            return self._frame_reader.feed_bytes(received)
        except ProtocolError as error:
            self.error = error
            whole: list[bytes] = error.args[1]
            return whole

    def decode_payload(self, payload: bytes) -> RemotingCommand | None:
        """The command in a payload. None for an invalid payload: do not decode the payloads after it."""
        try:
            return codec.decode_command(payload, self._limits)
        except ProtocolError as error:
            self.error = error
            return None

    def encode_request(self, command: RemotingCommand) -> bytes:
        """The bytes of our request. Unless it is oneway, `take_request` recognises its answer."""
        if not command.is_oneway:
            self._pending[command.opaque] = command
        return codec.encode_command(command)

    def forget_request(self, command: RemotingCommand) -> None:
        self._pending.pop(command.opaque, None)

    def take_request(self, answer: RemotingCommand) -> RemotingCommand | None:
        """Take the request that an answer belongs to. None if no request waits for this answer."""
        return self._pending.pop(answer.opaque, None) if answer.is_reply else None
