"""Connection: one end of a conversation, fed bytes and drained of commands.

Both ends use it: a server answers what it drains, a client asks and picks out what answers it.
"""

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.frame import FrameReader
from namesrv_core.protocol.limits import NONE, Limits


class Connection:
    """`feed` what arrives, send what `encode` returns.

    After garbage, `error` is set: close, nothing more can be understood. What stood whole before the
    garbage is still returned. Where `sizes` is a list, it has the bytes of each frame that was fed last.
    A frame beyond the `limits` counts as garbage.
    """

    def __init__(self, limits: Limits = NONE) -> None:
        self._limits = limits
        self._frames = FrameReader(limits.frame_bytes)
        self._asked: dict[int, Command] = {}
        self.error: ProtocolError | None = None
        self.sizes: list[int] | None = None

    @property
    def unfinished(self) -> int:
        """Bytes that a frame takes which has begun and not ended; 0 between two frames."""
        return self._frames.held

    @property
    def missing(self) -> int:
        """Bytes that may be fed at once without completing anything."""
        return self._frames.missing - 1

    @property
    def waiting(self) -> int:
        """How many requests of ours have not been answered."""
        return len(self._asked)

    def feed(self, data: bytes) -> list[Command]:
        """The commands that `data` completes, in the order they were sent."""
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
        """The payloads of the frames that `data` completes: for who decodes each when its turn comes."""
        if self.error is not None:
            return []
        try:
            return self._frames.feed(data)
        except ProtocolError as error:
            self.error = error
            whole: list[bytes] = error.args[1]
            return whole

    def decode(self, payload: bytes) -> Command | None:
        """The command in a payload; None for garbage: what comes behind it is not to be read."""
        try:
            return codec.decode(payload, self._limits)
        except ProtocolError as error:
            self.error = error
            return None

    def ask(self, command: Command) -> bytes:
        """The bytes of a request of ours, whose answer `asked` will recognise (not if it is oneway)."""
        if not command.is_oneway:
            self._asked[command.opaque] = command
        return codec.encode(command)

    def forget(self, command: Command) -> None:
        """Nobody waits any more for the answer to this request of ours."""
        self._asked.pop(command.opaque, None)

    def asked(self, answer: Command) -> Command | None:
        """The request that `answer` answers, once; None for one that nobody waits for."""
        return self._asked.pop(answer.opaque, None) if answer.is_reply else None
