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
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.state.access_policy import RequestPeer
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.registration import preview_registration

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
    body, policy = request.body, state.policy
    if request.code != RequestCode.REGISTER_BROKER and len(body) > effective_limit(
        state.settings.maxBodyBytes
    ):
        # Nobody reads this body, or it is refused for its size.
        return None
    if (
        policy is not None
        and len(body) >= _LARGE_SIGNED_BYTES
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
        or len(body) < LARGE_BODY_BYTES
    ):
        return None
    is_body_judged = policy is not None and access_guard.is_body_judged(policy, request, peer)
    if body.startswith(b"{") and len(body) < _LARGE_JSON_BYTES and not is_body_judged:
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
    expected = yield from expected_signature_in_steps(request, secret_key)
    signed = SignedRequest(request, secret_key, expected)
    steps = precompute_steps(state, signed, now_ms, peer)
    return signed if steps is None else (yield from steps)


def _precompute_registration(
    state: NameServerState, request: RemotingCommand, now_ms: int, is_body_judged: bool
) -> PrecomputeSteps:
    header = headers.read_header(headers.RegisterBroker, request.ext)
    lazy = LazyRegistration(state, request, header, now_ms)
    is_repeated = yield from _read_digest(lazy, state, header)
    if is_body_judged or not is_repeated:
        yield from _decode_body(lazy, state, header)
    return PreparedRequest(request, lazy)


def _read_digest(
    lazy: LazyRegistration, state: NameServerState, header: headers.RegisterBroker
) -> Generator[None, None, bool]:
    """Compute checksum and digest in small steps. Return whether the digest equals the last one."""
    running_crc32, digests = 0, []
    for piece_start in range(0, len(lazy.body_bytes), _PIECE_BYTES):
        piece = lazy.body_bytes[piece_start : piece_start + _PIECE_BYTES]
        running_crc32 = zlib.crc32(piece, running_crc32)
        digests.append(hash(piece))
        yield
    lazy.body_crc32 = running_crc32 & 0x7FFFFFFF
    lazy.body_digest = tuple(digests)
    live = state.tables.live_brokers.get((header.cluster_name or "", header.broker_addr or ""))
    return (
        live is not None
        and live.last_fingerprint is not None
        and live.last_fingerprint.body_digest == lazy.body_digest
    )


def _decode_body(
    lazy: LazyRegistration, state: NameServerState, header: headers.RegisterBroker
) -> Generator[int | None, None, None]:
    """Decode the body in small steps, and preview its changes."""
    try:
        registration = yield from registration_steps.decode_registration_steps(
            lazy.body_bytes, **lazy.decode_options
        )
        lazy.decoded_registration = registration
        if header.broker_name is not None and registration.topic_configs is not None:
            lazy.registration_preview = yield from preview_registration(
                state.tables, header.broker_name, registration.topic_configs
            )
    except (ValueError, RequestError) as error:
        lazy.decoded_registration = detach_error(error)


def release_precomputed(request: RemotingCommand) -> Generator[None, None, None]:
    """Release the decoded body of a request in small steps: freeing 100,000 objects at once takes 10 ms."""
    if not isinstance(request, PreparedRequest):
        return
    lazy = request.lazy_registration
    yield
    if lazy.registration_preview is not None:
        for move in lazy.registration_preview.topic_moves:
            while move.topics:
                yield
                del move.topics[-_ENTRIES_PER_STEP:]
        yield from _empty_in_steps(lazy.registration_preview.new_placements)
    # Use vars(): attribute access would trigger decoding.
    decoded = vars(lazy).get("decoded_registration")
    if isinstance(decoded, BrokerRegistration) and isinstance(configs := decoded.topic_configs, dict):
        yield from _empty_in_steps(configs)


def _empty_in_steps(large_table: dict[str, Any]) -> Generator[None, None, None]:
    while large_table:
        yield
        for _ in range(min(len(large_table), _ENTRIES_PER_STEP)):
            large_table.popitem()
