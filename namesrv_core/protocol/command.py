"""The protocol's command: one request or one answer, independent of the form of its header."""

from collections.abc import Mapping
from itertools import count

from namesrv_core.protocol.codes import ONEWAY_FLAG, RESPONSE_FLAG, V5_5_0, HeaderType

ExtFields = Mapping[str, str | None]

_opaque_counter = count(1)
# "value" is a value of the KV config.
_SECRET_FIELDS = ("SecurityToken", "Signature", "value")


class RemotingCommand:
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
        return isinstance(other, RemotingCommand) and all(
            getattr(self, name) == getattr(other, name) for name in RemotingCommand.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "reply" if self.is_reply else "oneway" if self.is_oneway else "request"
        shown = self.ext and {n: "..." if n in _SECRET_FIELDS else v for n, v in self.ext.items()}
        return f"<{kind} {self.code} #{self.opaque} ext={shown} body={len(self.body)}B>"


def build_request(
    code: int,
    ext: ExtFields | None = None,
    body: bytes = b"",
    *,
    is_oneway: bool = False,
    header_type: HeaderType = HeaderType.JSON,
) -> RemotingCommand:
    """Build a request with a new opaque.

    It always has extFields, because several handlers of brokers read them without a check.
    """
    return RemotingCommand(
        code,
        {} if ext is None else ext,
        body,
        opaque=next(_opaque_counter) & 0x7FFFFFFF,
        flag=ONEWAY_FLAG if is_oneway else 0,
        language="PYTHON",
        header_type=header_type,
    )


def build_reply(
    request: RemotingCommand,
    code: int = 0,
    *,
    ext: ExtFields | None = None,
    body: bytes = b"",
    remark: str | None = None,
) -> RemotingCommand:
    """Build the answer to `request`, with a header of the same form."""
    # Pass arguments by position: keywords would double the time, and every request needs one answer.
    return RemotingCommand(
        code, ext, body, request.opaque, RESPONSE_FLAG, remark, "JAVA", V5_5_0, request.header_type
    )
