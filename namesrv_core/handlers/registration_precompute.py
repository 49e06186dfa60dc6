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
from namesrv_core.handlers import access_guard
from namesrv_core.protocol import headers, registration_codec, registration_steps
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.access_policy import RequestPeer
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration_preview import RegistrationPreview, preview_registration

LARGE_BODY_BYTES = 1 << 12
"""The smallest body in bytes that counts as large. Compressed, it has about 1,500 topics."""
_LARGE_JSON_BYTES = 1 << 18
_PIECE_BYTES = 1 << 18
_ENTRIES_PER_STEP = 4096

PrecomputeSteps = Generator[None, None, "RemotingCommand"]


class LazyRegistration:
    """The body of a registration, decoded on first use unless `read_in_steps` has decoded it.

    `now_ms` dates a data version without a time.
    """

    registration_preview: RegistrationPreview | None = None
    """The preview of its changes, if it has been computed."""

    def __init__(
        self,
        state: NameServerState,
        request: RemotingCommand,
        request_header: headers.RegisterBroker,
        now_ms: int,
    ) -> None:
        self.body_bytes, self.now_ms = request.body, now_ms
        self._decode_options: dict[str, Any] = {
            "version": request.version, "compressed": request_header.compressed, "now": now_ms,
            "within": state.decode_limits
        }  # fmt: skip

    @cached_property
    def body_crc32(self) -> int:
        return zlib.crc32(self.body_bytes) & 0x7FFFFFFF

    @cached_property
    def body_digest(self) -> object:
        """A value that is equal for equal bodies."""
        return hash(self.body_bytes)

    @cached_property
    def decoded_registration(self) -> BrokerRegistration | ValueError | RequestError:
        """The decoded registration, or the error of decoding it."""
        try:
            return registration_codec.decode_registration(self.body_bytes, **self._decode_options)
        except (ValueError, RequestError) as error:
            return error

    def read_in_steps(
        self, state: NameServerState, request_header: headers.RegisterBroker
    ) -> Generator[None, None, None]:
        """Read the body in small steps: only checksum and digest if the digest equals the last one."""
        running_crc32, piece_digests = 0, []
        for piece_start in range(0, len(self.body_bytes), _PIECE_BYTES):
            body_piece = self.body_bytes[piece_start : piece_start + _PIECE_BYTES]
            running_crc32 = zlib.crc32(body_piece, running_crc32)
            piece_digests.append(hash(body_piece))
            yield
        self.body_crc32, self.body_digest = running_crc32 & 0x7FFFFFFF, tuple(piece_digests)
        live_broker = state.tables.live_brokers.get(
            (request_header.cluster_name or "", request_header.broker_addr or "")
        )
        if (
            live_broker is not None
            and live_broker.last_fingerprint is not None
            and live_broker.last_fingerprint.body_digest == self.body_digest
        ):
            return
        try:
            self.decoded_registration = yield from registration_steps.decode_registration_steps(
                self.body_bytes, **self._decode_options
            )
            if request_header.broker_name is not None and self.decoded_registration.topic_configs is not None:
                self.registration_preview = yield from preview_registration(
                    state.tables, request_header.broker_name, self.decoded_registration.topic_configs
                )
        except (ValueError, RequestError) as error:
            self.decoded_registration = error


class PreparedRequest(RemotingCommand):
    """A request whose body has been read in steps."""

    __slots__ = ("lazy_registration",)

    def __init__(self, request: RemotingCommand, lazy_registration: LazyRegistration) -> None:
        super().__init__(*(getattr(request, field_name) for field_name in _COMMAND_FIELDS))
        self.lazy_registration = lazy_registration


_COMMAND_FIELDS = ("code", "ext", "body", "opaque", "flag", "remark", "language", "version", "header_type")


def precompute_steps(
    state: NameServerState, request: RemotingCommand, now_ms: int, peer: RequestPeer
) -> PrecomputeSteps | None:
    """The steps for a large registration, which return the request to handle. None for other requests."""
    request_body = request.body
    if (
        request.code != RequestCode.REGISTER_BROKER
        or not state.settings.fastPath
        or request.version < 0
        or request.ext is None
        or len(request_body) < (_LARGE_JSON_BYTES if request_body.startswith(b"{") else LARGE_BODY_BYTES)
    ):
        return None
    if (
        state.policy is not None
        and access_guard.judge_request(state.policy, state, request, peer) is not None
    ):
        return None
    return _precompute_registration(state, request, now_ms)


def _precompute_registration(
    state: NameServerState, request: RemotingCommand, now_ms: int
) -> PrecomputeSteps:
    request_header = headers.read_header(headers.RegisterBroker, request.ext)
    lazy_registration = LazyRegistration(state, request, request_header, now_ms)
    yield from lazy_registration.read_in_steps(state, request_header)
    return PreparedRequest(request, lazy_registration)


def release_precomputed(request: RemotingCommand) -> Generator[None, None, None]:
    """Release the decoded body of a request in small steps: freeing 100,000 objects at once takes 10 ms."""
    if not isinstance(request, PreparedRequest):
        return
    lazy_registration = request.lazy_registration
    yield
    if lazy_registration.registration_preview is not None:
        for topic_move in lazy_registration.registration_preview.topic_moves:
            while topic_move.topics:
                yield
                del topic_move.topics[-_ENTRIES_PER_STEP:]
        yield from _empty_in_steps(lazy_registration.registration_preview.new_placements)
    # Use vars(): attribute access would trigger decoding.
    decoded_body = vars(lazy_registration).get("decoded_registration")
    if isinstance(decoded_body, BrokerRegistration) and isinstance(
        topic_configs := decoded_body.topic_configs, dict
    ):
        yield from _empty_in_steps(topic_configs)


def _empty_in_steps(large_table: dict[str, Any]) -> Generator[None, None, None]:
    while large_table:
        yield
        for _ in range(min(len(large_table), _ENTRIES_PER_STEP)):
            large_table.popitem()
