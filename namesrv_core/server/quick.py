"""Quick: answers to route lookups that were given before, found by the bytes of the request.

A client asks for the same route again and again with nothing changed but the opaque. This takes for granted
that such a request has the same answer as long as no table, KV value or setting has changed, and answers from
bytes to bytes. Whatever is not exactly like a request that was answered the usual way is left to that way; so
is everything where a policy does not let everybody read. The body of a large frame is not looked at: nobody
reads that of a lookup.
"""

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType, RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.server.counters import Counters
from namesrv_core.state.name_server import NameServerState

_OPAQUE = b'"opaque":'
_MOST = 16_384
_LONGEST = 1024
_ZERO = ord("0")


class QuickAnswers:
    """To requests about `state`, as `learn` was told them; counted by `counters`."""

    def __init__(self, state: NameServerState, counters: Counters) -> None:
        self._state = state
        self._counters = counters
        self._generation = -1
        self._is_over = not state.settings.fastPath
        self._known: dict[bytes, tuple[bytes, int, bytes, bytes, bytes]] = {}

    def find(self, payloads: list[bytes], most: int) -> tuple[list[bytes], int]:
        """Answers to the first of these requests, in pieces, and the size of their bodies.

        The requests (frames without their length words) are taken from the list: as many as are known, until
        the bodies have more than `most` bytes. What is left goes the usual way.
        """
        found: list[bytes] = []
        size = number = 0
        state, known = self._state, self._known
        if state.generation != self._generation or not (state.policy is None or state.policy.lets_all_read):
            return found, size
        for payload in payloads:
            before, _, rest = payload.partition(_OPAQUE)
            answer = known.get(before)
            if answer is None:
                break
            digits, _, after = rest.partition(b",")
            same, length, head, tail, body = answer
            if after != same or len(digits) != length or not digits.isdigit() or digits[0] == _ZERO:
                break
            found += head, digits, tail, body
            number += 1
            size += len(body)
            if size > most:
                break
        self._counters.quick += number
        del payloads[:number]
        return found, size

    def end(self) -> None:
        """From now on everything goes the usual way."""
        self._known.clear()
        self._is_over = True

    def begin(self) -> None:
        """From now on answers are learnt again."""
        self._is_over = False

    def learn(self, payload: bytes, asked: Command, answer: Command) -> None:
        """Keep the answer if it is one that `find` may give to whoever asks the same."""
        if (
            self._is_over
            or asked.code != RequestCode.GET_ROUTEINFO_BY_TOPIC
            or answer.code != 0
            or asked.header_type != HeaderType.JSON
            or asked.is_oneway
            or len(payload) > _LONGEST
        ):
            return
        before, _, rest = payload.partition(_OPAQUE)
        digits, _, after = rest.partition(b",")
        if (
            not digits.isdigit()
            or digits[0] == _ZERO
            # A longer one may be too large for the protocol.
            or len(digits) > 9
            # The only opaque there is: not spelt with escapes, nor a member of something inside.
            or payload.count(b"opaque") != 1
            or b"\\" in payload
        ):
            return
        if self._state.generation != self._generation or len(self._known) >= _MOST:
            self._known.clear()
            self._generation = self._state.generation
        header, body = codec.parts(answer)
        head, _, tail = header.partition(_OPAQUE + digits)
        self._known[before] = after, len(digits), head + _OPAQUE, tail, body
