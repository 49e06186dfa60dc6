"""Remoting frames for the tests, written from the specification and sharing no code with the server.

A codec fault of ours cannot hide behind itself here, and broken headers can be sent as they are.
"""

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON, BINARY = 0, 1
LANGUAGES = [
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
]
LANGUAGES += ["RUST", "NODE_JS"]


@dataclass(frozen=True)
class Answer:
    """One frame as a peer sees it; `members` are the JSON header's names in the order they came."""

    encoding: int
    code: int
    flag: int
    opaque: int
    language: str
    version: int
    remark: str | None = None
    ext: Mapping[str, str] | None = None
    body: bytes = b""
    members: tuple[str, ...] = field(default=(), compare=False)


def frame(header: bytes, body: bytes = b"", encoding: int = JSON) -> bytes:
    """A whole frame around any header bytes."""
    return struct.pack(">ii", 4 + len(header) + len(body), encoding << 24 | len(header)) + header + body


def json_header(
    code: int,
    ext: Mapping[str, Any] | None,
    opaque: int,
    flag: int = 0,
    version: int = 513,
    language: str = "JAVA",
) -> bytes:
    fields: dict[str, Any] = {"code": code, "flag": flag, "language": language, "opaque": opaque}
    if ext is not None:
        fields["extFields"] = ext
    fields |= {"serializeTypeCurrentRPC": "JSON", "version": version}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()


def binary_header(
    code: int,
    ext: Mapping[str, str] | None,
    opaque: int,
    flag: int = 0,
    version: int = 513,
    language: int = 0,
) -> bytes:
    fields = b"".join(_ext_field(key, value) for key, value in (ext or {}).items())
    fixed = struct.pack(">hbhiiii", code, language, version, opaque, flag, 0, len(fields))
    return fixed + fields


def _ext_field(key: str, value: str) -> bytes:
    name, text = key.encode(), value.encode()
    return struct.pack(">h", len(name)) + name + struct.pack(">i", len(text)) + text


def read_frame(data: bytes) -> Answer:
    """An answer out of the bytes after the length word; any breach of the layout raises ValueError."""
    (word,) = struct.unpack_from(">i", data)
    encoding, length = word >> 24, word & 0xFFFFFF
    header, body = data[4 : 4 + length], data[4 + length :]
    if len(header) != length:
        raise ValueError("the header is longer than the frame")
    return _read_json(header, body) if encoding == JSON else _read_binary(header, body)


def _read_json(header: bytes, body: bytes) -> Answer:
    fields = json.loads(header)
    ext = fields.get("extFields")
    return Answer(
        JSON,
        fields["code"],
        fields["flag"],
        fields["opaque"],
        fields["language"],
        fields["version"],
        fields.get("remark"),
        ext,
        body,
        tuple(fields),
    )


def _read_binary(header: bytes, body: bytes) -> Answer:
    code, language, version, opaque, flag, size = struct.unpack_from(">hbhiii", header)
    remark = header[17 : 17 + size].decode() or None
    (ext_size,) = struct.unpack_from(">i", header, 17 + size)
    at, end, ext = 21 + size, 21 + size + ext_size, {}
    if end != len(header):
        raise ValueError("the ext fields do not fill the header")
    while at < end:
        (name_size,) = struct.unpack_from(">h", header, at)
        name = header[at + 2 : at + 2 + name_size].decode()
        at += 2 + name_size
        (value_size,) = struct.unpack_from(">i", header, at)
        ext[name] = header[at + 4 : at + 4 + value_size].decode()
        at += 4 + value_size
    return Answer(BINARY, code, flag, opaque, LANGUAGES[language], version, remark, ext or None, body)


class Connection:
    """A blocking connection; `receive` gives None once the other side has closed."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._data = b""
        self._opaque = 0

    def send(self, data: bytes) -> bool:
        try:
            self._socket.sendall(data)
        except OSError:
            return False
        return True

    def receive(self, timeout: float = 5) -> Answer | None:
        """The next frame, None at the end of the stream; TimeoutError when neither comes."""
        size = self._fill(4, timeout)
        if not size:
            return None
        (length,) = struct.unpack(">i", size)
        data = self._fill(length, timeout)
        return read_frame(data) if data else None

    def _fill(self, count: int, timeout: float) -> bytes:
        self._socket.settimeout(timeout)
        while len(self._data) < count:
            try:
                more = self._socket.recv(65_536)
            except ConnectionError:
                more = b""
            if not more:
                return b""
            self._data += more
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def call(
        self, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b"", version: int = 513
    ) -> Answer:
        """A plain JSON request and its answer, which a broker with 100,000 topics takes seconds for."""
        self._opaque += 1
        self.send(frame(json_header(code, ext, self._opaque, version=version), body))
        answer = self.receive(60)
        if answer is None:
            raise ConnectionError("closed instead of answering")
        assert answer.opaque == self._opaque, answer
        return answer

    def finish_writing(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def reset(self) -> None:
        """Close with a RST instead of a FIN."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def close(self) -> None:
        self._socket.close()


def ask(port: int, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b"") -> Answer:
    """One request over a connection of its own."""
    connection = Connection(port)
    try:
        return connection.call(code, ext, body)
    finally:
        connection.close()
