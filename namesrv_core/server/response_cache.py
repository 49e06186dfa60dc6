"""RouteResponseCache, a cache of answers to route lookups, keyed by the bytes of the request.

A client repeats the same lookup and changes only the opaque. The answer stays the same as long as no table,
KV value or setting changes, so the cache answers without decoding. A request that differs in any other byte
goes through the handler. So does every request if an access policy restricts reading. The body of a large
frame is not compared, because the server ignores the body of a lookup.
"""

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.server.counters import ServerCounters
from namesrv_core.state.name_server_state import NameServerState

_OPAQUE_MEMBER = b'"opaque":'
_MAX_CACHE_BYTES = 32 * 1024 * 1024
"""The bytes of all entries: about 30,000 requests, because equal answers share a body."""
_ENTRY_BYTES = 500
_MAX_REQUEST_BYTES = 1024
_ZERO_DIGIT = ord("0")


class RouteResponseCache:
    """The cached answers of a server. `counters` count the cache hits."""

    def __init__(self, server_state: NameServerState, counters: ServerCounters) -> None:
        self._server_state = server_state
        self._counters = counters
        self._route_generation = -1
        self._is_disabled = not server_state.settings.fastPath
        self._cached_answers: dict[bytes, tuple[bytes, int, bytes, bytes, bytes]] = {}
        self._answer_bodies: dict[bytes, bytes] = {}
        self._cached_bytes = 0

    def find_answers(self, request_payloads: list[bytes], max_body_bytes: int) -> tuple[list[bytes], int]:
        """Answer the first requests, as many as are cached, until their bodies exceed `max_body_bytes`.

        Removes these requests (frames without their length words) from the list. Returns the pieces of the
        answers and the size of their bodies.
        """
        answer_pieces: list[bytes] = []
        body_bytes = answer_count = 0
        server_state, cached_answers = self._server_state, self._cached_answers
        if server_state.route_generation != self._route_generation or not (
            server_state.policy is None or server_state.policy.lets_all_read
        ):
            return answer_pieces, body_bytes
        for payload in request_payloads:
            before_opaque, _, from_opaque = payload.partition(_OPAQUE_MEMBER)
            cached_answer = cached_answers.get(before_opaque)
            if cached_answer is None:
                break
            opaque_digits, _, after_opaque = from_opaque.partition(b",")
            cached_after, digit_count, answer_head, answer_tail, answer_body = cached_answer
            if (
                after_opaque != cached_after
                or len(opaque_digits) != digit_count
                or not opaque_digits.isdigit()
                or opaque_digits[0] == _ZERO_DIGIT
            ):
                break
            answer_pieces += answer_head, opaque_digits, answer_tail, answer_body
            answer_count += 1
            body_bytes += len(answer_body)
            if body_bytes > max_body_bytes:
                break
        self._counters.cached_answer_count += answer_count
        del request_payloads[:answer_count]
        return answer_pieces, body_bytes

    def disable_cache(self) -> None:
        """Clear the cache and stop caching."""
        self._clear_answers()
        self._is_disabled = True

    def enable_cache(self) -> None:
        """Start caching again."""
        self._is_disabled = False

    def learn_answer(self, request_payload: bytes, request: RemotingCommand, answer: RemotingCommand) -> None:
        """Cache the answer if it is valid for every client that sends the same request."""
        if (
            self._is_disabled
            or request.code != RequestCode.GET_ROUTEINFO_BY_TOPIC
            or answer.code != 0
            or request.header_type != HeaderType.JSON
            or request.is_oneway
            or len(request_payload) > _MAX_REQUEST_BYTES
        ):
            return
        before_opaque, _, from_opaque = request_payload.partition(_OPAQUE_MEMBER)
        opaque_digits, _, after_opaque = from_opaque.partition(b",")
        if (
            not opaque_digits.isdigit()
            or opaque_digits[0] == _ZERO_DIGIT
            # A longer opaque may exceed the protocol's range.
            or len(opaque_digits) > 9
            # The only opaque: not written with escapes, and not a member of a nested object.
            or request_payload.count(b"opaque") != 1
            or b"\\" in request_payload
        ):
            return
        answer_header, answer_body = codec.encode_command_parts(answer)
        entry_bytes = len(request_payload) + len(answer_header) + _ENTRY_BYTES
        if not self._make_room(entry_bytes + len(answer_body)):
            return
        if answer_body not in self._answer_bodies:
            self._answer_bodies[answer_body] = answer_body
            self._cached_bytes += len(answer_body)
        answer_head, _, answer_tail = answer_header.partition(_OPAQUE_MEMBER + opaque_digits)
        self._cached_bytes += entry_bytes
        self._cached_answers[before_opaque] = (
            after_opaque,
            len(opaque_digits),
            answer_head + _OPAQUE_MEMBER,
            answer_tail,
            self._answer_bodies[answer_body],
        )

    def _make_room(self, needed_bytes: int) -> bool:
        """Forget all answers if they are outdated or too many. Return False if there can be no room."""
        if needed_bytes > _MAX_CACHE_BYTES:
            return False
        if (
            self._server_state.route_generation != self._route_generation
            or self._cached_bytes + needed_bytes > _MAX_CACHE_BYTES
        ):
            self._clear_answers()
            self._route_generation = self._server_state.route_generation
        return True

    def _clear_answers(self) -> None:
        self._cached_answers.clear()
        self._answer_bodies.clear()
        self._cached_bytes = 0
