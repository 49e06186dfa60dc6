"""Connection: one end of a conversation, fed bytes and drained of commands.

Both ends use it: a server answers what it drains, a client asks and picks out what answers it.
"""

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.frame import FrameReader


class Connection:
    """`feed` what arrives, send what `encode` returns.

    After garbage, `error` is set: close, nothing more can be understood. What stood whole before the
    garbage is still returned. Where `sizes` is a list, it has the bytes of each frame that was fed last.
    """

    def __init__(self) -> None:
        self._frames = FrameReader()
        self._asked: dict[int, Command] = {}
        self.error: ProtocolError | None = None
        self.sizes: list[int] | None = None

    @property
    def waiting(self) -> int:
        """How many requests of ours have not been answered."""
        return len(self._asked)

    def feed(self, data: bytes) -> list[Command]:
        """The commands that `data` completes, in the order they were sent."""
        if self.error is not None:
            return []
        try:
            payloads = self._frames.feed(data)
        except ProtocolError as error:
            self.error = error
            payloads = error.args[1]
        if self.sizes is not None:
            self.sizes = [len(payload) + 4 for payload in payloads]
        commands: list[Command] = []
        try:
            for payload in payloads:
                commands.append(codec.decode(payload))
        except ProtocolError as error:
            self.error = error
        return commands

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
