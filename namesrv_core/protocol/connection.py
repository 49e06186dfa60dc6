"""The protocol state of one connection: received bytes in, commands out.

Server and client use it. A server answers the commands; a client matches answers with its own requests.
"""

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.frame import FrameReader
from namesrv_core.protocol.limits import NONE, Limits


class Connection:
    """Pass received bytes to `feed_bytes`, and send the bytes that `encode_request` returns.

    After invalid bytes `error` is set: close the connection. Commands that were complete before those bytes
    are still returned. A frame that exceeds the limits counts as invalid. If `frame_sizes` is a list,
    `feed_bytes` fills it with the size of each frame in bytes.
    """

    def __init__(self, limits: Limits = NONE) -> None:
        self._limits = limits
        self._frames = FrameReader(limits.frame_bytes)
        self._asked: dict[int, Command] = {}
        self.error: ProtocolError | None = None
        self.sizes: list[int] | None = None

    @property
    def unfinished(self) -> int:
        """Bytes of memory that the unfinished frame takes; 0 between two frames."""
        return self._frames.held

    @property
    def missing(self) -> int:
        """The number of bytes that can be fed at once without completing a frame."""
        return self._frames.missing - 1

    @property
    def waiting(self) -> int:
        """The number of our requests that wait for an answer."""
        return len(self._asked)

    def feed(self, data: bytes) -> list[Command]:
        """The commands that these bytes complete, in the order in which the peer sent them."""
        payloads = self.split(data)
        if self.sizes is not None:
            self.sizes = [len(payload) + 4 for payload in payloads]
        commands = []
        for payload in payloads:
            command = self.decode(payload)
            if command is None:
                break
            commands.append(command)
        return commands

    def split(self, data: bytes) -> list[bytes]:
        """The payloads of the frames that these bytes complete, for a caller that decodes them one by one."""
        if self.error is not None:
            return []
        try:
            return self._frames.feed(data)
        except ProtocolError as error:
            self.error = error
            whole: list[bytes] = error.args[1]
            return whole

    def decode(self, payload: bytes) -> Command | None:
        """The command in a payload. None for an invalid payload: do not decode the payloads after it."""
        try:
            return codec.decode(payload, self._limits)
        except ProtocolError as error:
            self.error = error
            return None

    def ask(self, command: Command) -> bytes:
        """The bytes of our request. Unless it is oneway, `take_request` recognises its answer."""
        if not command.is_oneway:
            self._asked[command.opaque] = command
        return codec.encode(command)

    def forget(self, command: Command) -> None:
        """Stop waiting for the answer to this request."""
        self._asked.pop(command.opaque, None)

    def asked(self, answer: Command) -> Command | None:
        """Take the request that an answer belongs to. None if no request waits for this answer."""
        return self._asked.pop(answer.opaque, None) if answer.is_reply else None
