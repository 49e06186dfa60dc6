"""The protocol's command: one request or one answer, independent of the form of its header."""

from collections.abc import Mapping
from itertools import count

from namesrv_core.protocol.codes import ONEWAY_FLAG, RESPONSE_FLAG, V5_5_0, HeaderType

ExtFields = Mapping[str, str | None]

_opaques = count(1)
_HIDDEN = ("SecurityToken", "Signature")


class Command:
    """One request or answer (upstream: `RemotingCommand`).

    `ext` is None if the header has no extFields, which differs from an empty map. Commands may share it:
    treat it as read-only. `body` is b"" if there is none. The representation hides signature and token.
    """

    __slots__ = ("body", "code", "ext", "flag", "header_type", "language", "opaque", "remark", "version")

    def __init__(
        self,
        code: int,
        ext: ExtFields | None = None,
        body: bytes = b"",
        opaque: int = 0,
        flag: int = 0,
        remark: str | None = None,
        language: str = "JAVA",
        version: int = V5_5_0,
        header_type: HeaderType = HeaderType.JSON,
    ) -> None:
        self.code = code
        self.ext = ext
        self.body = body
        self.opaque = opaque
        self.flag = flag
        self.remark = remark
        self.language = language
        self.version = version
        self.header_type = header_type

    @property
    def is_reply(self) -> bool:
        return bool(self.flag & RESPONSE_FLAG)

    @property
    def is_oneway(self) -> bool:
        return bool(self.flag & ONEWAY_FLAG)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Command) and all(
            getattr(self, name) == getattr(other, name) for name in Command.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "reply" if self.is_reply else "oneway" if self.is_oneway else "request"
        ext = self.ext and {key: "..." if key in _HIDDEN else value for key, value in self.ext.items()}
        return f"<{kind} {self.code} #{self.opaque} ext={ext} body={len(self.body)}B>"


def request(
    code: int,
    ext: ExtFields | None = None,
    body: bytes = b"",
    *,
    oneway: bool = False,
    header_type: HeaderType = HeaderType.JSON,
) -> Command:
    """Build a request with an opaque of its own.

    It always has extFields, because several handlers of brokers read them without a check.
    """
    return Command(
        code,
        {} if ext is None else ext,
        body,
        opaque=next(_opaques) & 0x7FFFFFFF,
        flag=ONEWAY_FLAG if oneway else 0,
        language="PYTHON",
        header_type=header_type,
    )


def reply(
    asked: Command,
    code: int = 0,
    *,
    ext: ExtFields | None = None,
    body: bytes = b"",
    remark: str | None = None,
) -> Command:
    """Build the answer to `request`, with a header of the same form."""
    # Pass arguments by position: keywords would double the time, and every request needs one answer.
    return Command(code, ext, body, asked.opaque, RESPONSE_FLAG, remark, "JAVA", V5_5_0, asked.header_type)
