"""The precomputation of large registrations: the slow work is done in small steps before the handler runs.

Checksum, digest and decoding depend on the request alone, and the preview of changes is checked again at the
end. So the server applies the registration at one moment, as if it had arrived then: requests of other
connections come before it, and no client sees a part of it. Small registrations are handled directly, and
with `fastPath` off all of them.
"""

import zlib
from collections.abc import Generator
from typing import Any

from namesrv_core.errors import RequestError, detach_error
from namesrv_core.handlers import access_guard
from namesrv_core.handlers.decoded_bodies import LazyRegistration, SignedRequest
from namesrv_core.handlers.decoded_bodies import PreparedRequest as PreparedRequest
from namesrv_core.protocol import headers, registration_steps
from namesrv_core.protocol.acl_signature import expected_signature_in_steps
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.access_policy import RequestPeer
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration_preview import preview_registration
from namesrv_core.state.server_limits import effective_limit

LARGE_BODY_BYTES = 1 << 8
"""The smallest body in bytes that counts as large. A compressed one can have 264 KB and 10,000 topics."""
_LARGE_JSON_BYTES = 1 << 18
_LARGE_SIGNED_BYTES = 1 << 18
_PIECE_BYTES = 1 << 18
_ENTRIES_PER_STEP = 4096

PrecomputeSteps = Generator[int | None, None, RemotingCommand]


def precompute_steps(
    state: NameServerState, request: RemotingCommand, now_ms: int, peer: RequestPeer
) -> PrecomputeSteps | None:
    """The steps for a large registration, which return the request to handle. None for other requests.

    The body of a fenced broker has steps as soon as it counts as large when compressed: the guard reads it.
    """
    request_body, policy = request.body, state.policy
    if request.code != RequestCode.REGISTER_BROKER and len(request_body) > effective_limit(
        state.settings.maxBodyBytes
    ):
        # Nobody reads this body, or it is refused for its size.
        return None
    if (
        policy is not None
        and len(request_body) >= _LARGE_SIGNED_BYTES
        and not isinstance(request, SignedRequest)
        and (access_key := access_guard.claimed_access_key(request)) is not None
        and access_guard.is_key_needed(policy, state, request, peer)
    ):
        return _verify_first(state, request, now_ms, peer, access_guard.find_secret(policy, access_key))
    if (
        request.code != RequestCode.REGISTER_BROKER
        or not state.settings.fastPath
        or request.version < 0
        or request.ext is None
        or len(request_body) < LARGE_BODY_BYTES
    ):
        return None
    is_body_judged = policy is not None and access_guard.is_body_judged(policy, request, peer)
    if request_body.startswith(b"{") and len(request_body) < _LARGE_JSON_BYTES and not is_body_judged:
        return None
    if (
        policy is not None
        and access_guard.judge_request(policy, state, request, peer, judges_body=False) is not None
    ):
        return None
    return _precompute_registration(state, request, now_ms, is_body_judged)


def _verify_first(
    state: NameServerState, request: RemotingCommand, now_ms: int, peer: RequestPeer, secret_key: str
) -> PrecomputeSteps:
    """Compute the signature in small steps, before anything else reads the body."""
    expected_signature = yield from expected_signature_in_steps(request, secret_key)
    signed_request = SignedRequest(request, secret_key, expected_signature)
    further_steps = precompute_steps(state, signed_request, now_ms, peer)
    return signed_request if further_steps is None else (yield from further_steps)


def _precompute_registration(
    state: NameServerState, request: RemotingCommand, now_ms: int, is_body_judged: bool
) -> PrecomputeSteps:
    request_header = headers.read_header(headers.RegisterBroker, request.ext)
    lazy_registration = LazyRegistration(state, request, request_header, now_ms)
    is_repeated = yield from _read_digest(lazy_registration, state, request_header)
    if is_body_judged or not is_repeated:
        yield from _decode_body(lazy_registration, state, request_header)
    return PreparedRequest(request, lazy_registration)


def _read_digest(
    lazy_registration: LazyRegistration, state: NameServerState, request_header: headers.RegisterBroker
) -> Generator[None, None, bool]:
    """Compute checksum and digest in small steps. Return whether the digest equals the last one."""
    running_crc32, piece_digests = 0, []
    for piece_start in range(0, len(lazy_registration.body_bytes), _PIECE_BYTES):
        body_piece = lazy_registration.body_bytes[piece_start : piece_start + _PIECE_BYTES]
        running_crc32 = zlib.crc32(body_piece, running_crc32)
        piece_digests.append(hash(body_piece))
        yield
    lazy_registration.body_crc32 = running_crc32 & 0x7FFFFFFF
    lazy_registration.body_digest = tuple(piece_digests)
    live_broker = state.tables.live_brokers.get(
        (request_header.cluster_name or "", request_header.broker_addr or "")
    )
    return (
        live_broker is not None
        and live_broker.last_fingerprint is not None
        and live_broker.last_fingerprint.body_digest == lazy_registration.body_digest
    )


def _decode_body(
    lazy_registration: LazyRegistration, state: NameServerState, request_header: headers.RegisterBroker
) -> Generator[int | None, None, None]:
    """Decode the body in small steps, and preview its changes."""
    try:
        broker_registration = yield from registration_steps.decode_registration_steps(
            lazy_registration.body_bytes, **lazy_registration.decode_options
        )
        lazy_registration.decoded_registration = broker_registration
        if request_header.broker_name is not None and broker_registration.topic_configs is not None:
            lazy_registration.registration_preview = yield from preview_registration(
                state.tables, request_header.broker_name, broker_registration.topic_configs
            )
    except (ValueError, RequestError) as error:
        lazy_registration.decoded_registration = detach_error(error)


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
