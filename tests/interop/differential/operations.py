"""One step of a differential run: what is sent to both servers, and what the generator knows about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tests.interop import wire

FENCE = {"namespace": "nsadmin-fence", "key": "none"}
ONEWAY = 2


class Kind(Enum):
    REQUEST = "request"
    BURST = "burst"
    RAW = "raw"
    CLOSE = "close"
    RESET = "reset"


@dataclass(frozen=True)
class Op:
    """A request, some raw bytes, or the end of a connection.

    `marks` carry what the tolerance table may ask for: the generator sets them, the servers never see them.
    """

    kind: Kind
    connection: int
    code: int = 0
    ext: Mapping[str, Any] | None = None
    body: bytes = b""
    encoding: int = wire.JSON
    version: int = 513
    oneway: bool = False
    language: str = "JAVA"
    raw: bytes = b""
    parts: tuple["Op", ...] = ()
    marks: frozenset[str] = field(default=frozenset())

    def bytes(self, opaque: int) -> bytes:
        flag = ONEWAY if self.oneway else 0
        if self.encoding == wire.BINARY:
            language = wire.LANGUAGES.index(self.language)
            header = wire.binary_header(self.code, self.ext, opaque, flag, self.version, language)
        else:
            header = wire.json_header(self.code, self.ext, opaque, flag, self.version, self.language)
        return wire.frame(header, self.body, self.encoding)

    def __str__(self) -> str:
        if self.kind in (Kind.CLOSE, Kind.RESET):
            return f"[{self.connection}] {self.kind.value}"
        marks = f" marks={','.join(sorted(self.marks))}" if self.marks else ""
        if self.kind is Kind.RAW:
            return f"[{self.connection}] raw {self.raw!r}{marks}"
        if self.kind is Kind.BURST:
            return f"[{self.connection}] burst " + " + ".join(str(part) for part in self.parts)
        how = ("binary" if self.encoding else "json") + (" oneway" if self.oneway else "")
        ext = "" if self.ext is None else f" {dict(self.ext)}"
        body = f" body={self.body!r}" if self.body else ""
        return f"[{self.connection}] {self.code} {how} v{self.version}{ext}{body}{marks}"


@dataclass(frozen=True)
class Outcome:
    """What came back: answers, whether the connection was closed, or a frame that cannot be read."""

    answers: tuple[wire.Answer, ...] = ()
    closed: bool = False
    fault: str | None = None
