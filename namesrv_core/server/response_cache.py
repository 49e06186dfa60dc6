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
    def __init__(self, state: NameServerState, counters: ServerCounters) -> None:
        self._server_state = state
        self._counters = counters
        self._route_generation = -1
        self._is_disabled = not state.settings.fastPath
        self._answers: dict[bytes, tuple[bytes, int, bytes, bytes, bytes]] = {}
        self._answer_bodies: dict[bytes, bytes] = {}
        self._cached_bytes = 0

    def find_answers(self, payloads: list[bytes], max_body_bytes: int) -> tuple[list[bytes], int]:
        """Answer the first requests, as many as are cached, until their bodies exceed `max_body_bytes`.

        Removes these requests (frames without their length words) from the list. Returns the pieces of the
        answers and the size of their bodies.
        """
        pieces: list[bytes] = []
        body = answer_count = 0
        state, cached_answers = self._server_state, self._answers
        if state.route_generation != self._route_generation or not (
            state.policy is None or state.policy.lets_all_read
        ):
            return pieces, body
        for payload in payloads:
            before, _, rest = payload.partition(_OPAQUE_MEMBER)
            cached = cached_answers.get(before)
            if cached is None:
                break
            digits, _, after = rest.partition(b",")
            cached_after, digit_count, head, tail, answer_body = cached
            if (
                after != cached_after
                or len(digits) != digit_count
                or not digits.isdigit()
                or digits[0] == _ZERO_DIGIT
            ):
                break
            pieces += head, digits, tail, answer_body
            answer_count += 1
            body += len(answer_body)
            if body > max_body_bytes:
                break
        self._counters.cached_answer_count += answer_count
        del payloads[:answer_count]
        return pieces, body

    def disable_cache(self) -> None:
        self._clear_answers()
        self._is_disabled = True

    def enable_cache(self) -> None:
        self._is_disabled = False

    def learn_answer(self, payload: bytes, request: RemotingCommand, answer: RemotingCommand) -> None:
        """Cache the answer if it is valid for every client that sends the same request."""
        if (
            self._is_disabled
            or request.code != RequestCode.GET_ROUTEINFO_BY_TOPIC
            or answer.code != 0
            or request.header_type != HeaderType.JSON
            or request.is_oneway
            or len(payload) > _MAX_REQUEST_BYTES
        ):
            return
        before, _, rest = payload.partition(_OPAQUE_MEMBER)
        digits, _, after = rest.partition(b",")
        if (
            not digits.isdigit()
            or digits[0] == _ZERO_DIGIT
            # A longer opaque may exceed the protocol's range.
            or len(digits) > 9
            # The only opaque: not written with escapes, and not a member of a nested object.
            or payload.count(b"opaque") != 1
            or b"\\" in payload
        ):
            return
        header, body = codec.encode_command_parts(answer)
        size = len(payload) + len(header) + _ENTRY_BYTES
        if not self._make_room(size + len(body)):
            return
        if body not in self._answer_bodies:
            self._answer_bodies[body] = body
            self._cached_bytes += len(body)
        head, _, tail = header.partition(_OPAQUE_MEMBER + digits)
        self._cached_bytes += size
        self._answers[before] = (after, len(digits), head + _OPAQUE_MEMBER, tail, self._answer_bodies[body])

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
        self._answers.clear()
        self._answer_bodies.clear()
        self._cached_bytes = 0
