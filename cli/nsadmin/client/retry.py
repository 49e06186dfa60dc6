"""NameServerReader, which sends a read to one name server after another until one of them answers.

A read moves to the next server only if the transport fails. "Not found" is an answer, but name servers do not
synchronize with each other, so the reader asks all of them before it reports "not found".
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command, ExtFields, request
from namesrv_core.transport.calls import CallError
from nsadmin.client.caller import Caller
from nsadmin.client.results import NoneReachable, ServerResult, is_not_found, is_unreachable

T = TypeVar("T")
Decode = Callable[[Command], T]


class Reader:
    """Reads from name servers.

    Args:
        caller: The connections.
        ask_all: Send each read to every name server, to find servers that are unreachable or disagree.

    Attributes:
        unreachable: Address to error of the name servers that failed, or refused a read that others answered.
        disagreements: One line of text per difference between name servers.
    """

    def __init__(self, caller: Caller, ask_all: bool = False) -> None:
        self._caller = caller
        self._ask_all = ask_all
        self.unreachable: dict[str, RocketMQError] = {}
        self.disagreements: list[str] = []

    @cached_property
    def _preferred(self) -> tuple[str, ...]:
        """The addresses in request order: the server that answered last comes first."""
        return self._caller.name_servers.addrs

    def read(
        self, what: str, decode: Decode[T], code: int, ext: ExtFields | None = None, *, ask_all: bool = True
    ) -> T:
        """Return the decoded answer of the first name server that has one.

        Args:
            subject_text: What is read, as text for `disagreements`.
            decode: Turns the answer into the result.
            request_code: The request code.
            ext_fields: The header fields of the request.
            ask_all: Set False to ask one server even if the reader asks all.

        Raises:
            NoneReachable: No name server answered.
            RocketMQError: A name server refused, or none of them knows the object.
        """
        if self._ask_all and ask_all:
            return self._read_all(what, decode, code, ext)
        results: list[ServerResult[T]] = []
        for addr in self._preferred:
            [result] = self._ask((addr,), decode, code, ext)
            if result.error is None:
                self._preferred = (addr, *(other for other in self._preferred if other != addr))
                return _first([*results, result])
            results.append(result)
            if is_not_found(result.error):
                others = self._preferred[len(results) :]
                return _first(results + self._ask(others, decode, code, ext))
            if not is_unreachable(result.error):
                raise result.error
        return _first(results)

    def each(
        self, decode: Decode[T], code: int, ext: ExtFields | None = None, body: bytes = b""
    ) -> list[ServerResult[T]]:
        """Send a request to every name server; return one decoded ServerResult per server."""
        return [decoded(answer, decode) for answer in self._caller.ask_name_servers(code, ext, body)]

    def read_many(self, decode: Decode[T], code: int, exts: Sequence[ExtFields]) -> list[ServerResult[T]]:
        """Send many reads of one kind at once to the first name server that answers.

        Args:
            decode: Turns an answer into a result.
            request_code: The request code of all reads.
            ext_fields_list: The header fields of each read.

        Returns:
            One ServerResult per read, in the order of `ext_fields_list`.
        """
        results: dict[int, ServerResult[T]] = {}
        for addr in self._preferred:
            pending = [
                at for at in range(len(exts)) if at not in results or is_unreachable(results[at].error)
            ]
            answers = self._caller.ask([(addr, request(code, exts[at])) for at in pending])
            for at, answer in zip(pending, answers, strict=True):
                results[at] = decoded(answer, decode)
        return [results[at] for at in range(len(exts))]

    def _read_all(self, what: str, decode: Decode[T], code: int, ext: ExtFields | None) -> T:
        results = self._ask(self._caller.name_servers.addrs, decode, code, ext)
        found = _first(results)
        for addr, result, error in results:
            if is_not_found(error):
                self.disagreements.append(f"{addr} does not know {what}")
            elif error is not None:
                self.unreachable[addr] = error
            elif result != found:
                first = next(addr for addr, value, _ in results if value is found)
                self.disagreements.append(f"{addr} and {first} disagree about {what}")
        return found

    def _ask(
        self, addrs: tuple[str, ...], decode: Decode[T], code: int, ext: ExtFields | None
    ) -> list[ServerResult[T]]:
        answers = self._caller.ask_each(addrs, code, ext)
        results = [decoded(answer, decode) for answer in answers]
        for addr, _, error in results:
            if isinstance(error, CallError):
                self.unreachable[addr] = error
        return results


def decoded(answer: ServerResult[Command], decode: Decode[T]) -> ServerResult[T]:
    """Decode the answer of a server.

    Returns:
        The decoded result, or the answer's error. If decoding fails, the error is a CallError of the kind
        "unreadable", so that the server counts as unreachable.
    """

    def read(command: Command) -> T:
        try:
            return decode(command)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise CallError(answer.addr, "unreadable", f"its answer cannot be read ({error})") from error

    return answer.then(read)


def _first(results: list[ServerResult[T]]) -> T:
    """Return the first success. Else raise a refusal ("not found" last), or NoneReachable."""
    errors: list[RocketMQError] = []
    for _, result, error in results:
        if error is None and result is not None:
            return result
        if error is not None:
            errors.append(error)
    answered = [error for error in errors if not isinstance(error, CallError)]
    if answered:
        raise next((error for error in answered if not is_not_found(error)), answered[0])
    raise NoneReachable([error for error in errors if isinstance(error, CallError)])
