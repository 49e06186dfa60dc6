"""Ahead: what takes long about a large registration is done before it is carried out, in small steps.

Checksum, digest, decoding and what will change depend on the request alone, or are looked at once more in the
end. So the registration is carried out at one moment, as if it had come then: whatever another connection
asked meanwhile came before it, and nobody sees a part of it. A small one goes the usual way, and so does each
where `fastPath` is off.
"""

import zlib
from collections.abc import Generator
from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.handlers import guard
from namesrv_core.protocol import headers, registration_steps
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.registration import Registration
from namesrv_core.state.foreseen import Foreseen, foresee
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import Peer

LARGE = 1 << 12
"""Bytes of the smallest body that may be large: compressed, it has some 1,500 topics."""
_LARGE_JSON = 1 << 18
_PIECE = 1 << 18

Steps = Generator[None, None, "Command"]


class Ahead(NamedTuple):
    """Where a registration has a `digest` that the broker's last one had, nothing else was done.

    `now` dates a version without a time. `found` is what was decoded, or why it cannot be.
    """

    now: int
    crc32: int
    digest: object
    found: Registration | Exception | None
    foreseen: Foreseen | None


class Prepared(Command):
    """A request that was worked on ahead."""

    __slots__ = ("ahead",)

    def __init__(self, asked: Command, ahead: Ahead) -> None:
        super().__init__(*(getattr(asked, name) for name in _FIELDS))
        self.ahead = ahead


_FIELDS = ("code", "ext", "body", "opaque", "flag", "remark", "language", "version", "header_type")


def steps(state: NameServerState, request: Command, now: int, peer: Peer) -> Steps | None:
    """For a large registration what is to be done ahead, which ends with the request to handle; else None."""
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
    body, crc32 = request.body, 0
    digests = []
    for begin in range(0, len(body), _PIECE):
        piece = body[begin : begin + _PIECE]
        crc32 = zlib.crc32(piece, crc32)
        digests.append(hash(piece))
        yield
    live = state.tables.live.get((header.cluster_name or "", header.broker_addr or ""))
    ahead = Ahead(now, crc32 & 0x7FFFFFFF, tuple(digests), None, None)
    if live is not None and live.seal is not None and live.seal.digest == ahead.digest:
        return Prepared(request, ahead)
    found: Registration | Exception
    foreseen = None
    try:
        found = yield from registration_steps.decode(
            body, version=request.version, compressed=header.compressed, now=now, within=state.limits
        )
        if header.broker_name is not None and found.topics is not None:
            foreseen = yield from foresee(state.tables, header.broker_name, found.topics)
    except (ValueError, RequestError) as error:
        found = error
    return Prepared(request, ahead._replace(found=found, foreseen=foreseen))
