"""The precomputation of large registrations: the slow work is done in small steps before the handler runs.

Checksum, digest and decoding depend on the request alone, and the preview of changes is checked again at the
end. So the server applies the registration at one moment, as if it had arrived then: requests of other
connections come before it, and no client sees a part of it. Small registrations are handled directly, and
with `fastPath` off all of them.
"""

import zlib
from collections.abc import Generator
from functools import cached_property
from typing import Any

from namesrv_core.errors import RequestError
from namesrv_core.handlers import guard
from namesrv_core.protocol import headers, registration, registration_steps
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.registration import Registration
from namesrv_core.state.foreseen import Foreseen, foresee
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import Peer

LARGE = 1 << 12
"""The smallest body in bytes that counts as large. Compressed, it has about 1,500 topics."""
_LARGE_JSON = 1 << 18
_PIECE = 1 << 18
_GO_AT_ONCE = 4096

Steps = Generator[None, None, "Command"]


class Reading:
    """The body of a registration, decoded on first use unless `read_in_steps` has decoded it.

    `now_ms` dates a data version without a time.
    """

    foreseen: Foreseen | None = None
    """The preview of its changes, if it has been computed."""

    def __init__(
        self, state: NameServerState, request: Command, header: headers.RegisterBroker, now: int
    ) -> None:
        self.body, self.now = request.body, now
        self._how: dict[str, Any] = {
            "version": request.version, "compressed": header.compressed, "now": now, "within": state.limits
        }  # fmt: skip

    @cached_property
    def crc32(self) -> int:
        return zlib.crc32(self.body) & 0x7FFFFFFF

    @cached_property
    def digest(self) -> object:
        """A value that is equal for equal bodies."""
        return hash(self.body)

    @cached_property
    def found(self) -> Registration | ValueError | RequestError:
        """The decoded registration, or the error of decoding it."""
        try:
            return registration.decode(self.body, **self._how)
        except (ValueError, RequestError) as error:
            return error

    def steps(self, state: NameServerState, header: headers.RegisterBroker) -> Generator[None, None, None]:
        """Read the body in small steps: only checksum and digest if the digest equals the last one."""
        crc32, digests = 0, []
        for begin in range(0, len(self.body), _PIECE):
            piece = self.body[begin : begin + _PIECE]
            crc32 = zlib.crc32(piece, crc32)
            digests.append(hash(piece))
            yield
        self.crc32, self.digest = crc32 & 0x7FFFFFFF, tuple(digests)
        live = state.tables.live.get((header.cluster_name or "", header.broker_addr or ""))
        if live is not None and live.seal is not None and live.seal.digest == self.digest:
            return
        try:
            self.found = yield from registration_steps.decode(self.body, **self._how)
            if header.broker_name is not None and self.found.topics is not None:
                self.foreseen = yield from foresee(state.tables, header.broker_name, self.found.topics)
        except (ValueError, RequestError) as error:
            self.found = error


class Prepared(Command):
    """A request whose body has been read in steps."""

    __slots__ = ("reading",)

    def __init__(self, asked: Command, reading: Reading) -> None:
        super().__init__(*(getattr(asked, name) for name in _FIELDS))
        self.reading = reading


_FIELDS = ("code", "ext", "body", "opaque", "flag", "remark", "language", "version", "header_type")


def steps(state: NameServerState, request: Command, now: int, peer: Peer) -> Steps | None:
    """The steps for a large registration, which return the request to handle. None for other requests."""
    body = request.body
    if (
        request.code != RequestCode.REGISTER_BROKER
        or not state.settings.fastPath
        or request.version < 0
        or request.ext is None
        or len(body) < (_LARGE_JSON if body.startswith(b"{") else LARGE)
    ):
        return None
    if state.policy is not None and guard.judge(state.policy, state, request, peer) is not None:
        return None
    return _steps(state, request, now)


def _steps(state: NameServerState, request: Command, now: int) -> Steps:
    header = headers.read(headers.RegisterBroker, request.ext)
    reading = Reading(state, request, header, now)
    yield from reading.steps(state, header)
    return Prepared(request, reading)


def drop(request: Command) -> Generator[None, None, None]:
    """Release the decoded body of a request in small steps: freeing 100,000 objects at once takes 10 ms."""
    if not isinstance(request, Prepared):
        return
    reading = request.reading
    yield
    if reading.foreseen is not None:
        for move in reading.foreseen.found:
            while move.topics:
                yield
                del move.topics[-_GO_AT_ONCE:]
        yield from _empty(reading.foreseen.fresh)
    # Use vars(): attribute access would trigger decoding.
    found = vars(reading).get("found")
    if isinstance(found, Registration) and isinstance(topics := found.topics, dict):
        yield from _empty(topics)


def _empty(table: dict[str, Any]) -> Generator[None, None, None]:
    while table:
        yield
        for _ in range(min(len(table), _GO_AT_ONCE)):
            table.popitem()
