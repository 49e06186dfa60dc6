"""Reader: asks name servers for what all of them should know, until one has an answer.

Only a failed transport sends a read to the next server. "Not found" is an answer, but name servers never
talk to each other, so it is believed only when none of them knows better.
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
    """`ask_all` asks every name server each time and so notices those that are dead or disagree.

    `unreachable` and `disagreements` collect what was noticed: address to error, also of those that refuse to
    tell what others tell, and lines of text.
    """

    def __init__(self, caller: Caller, ask_all: bool = False) -> None:
        self._caller = caller
        self._ask_all = ask_all
        self.unreachable: dict[str, RocketMQError] = {}
        self.disagreements: list[str] = []

    @cached_property
    def _preferred(self) -> tuple[str, ...]:
        """In the order to ask them: the one that answered last comes first."""
        return self._caller.name_servers.addrs

    def read(
        self, what: str, decode: Decode[T], code: int, ext: ExtFields | None = None, *, ask_all: bool = True
    ) -> T:
        """What the first name server that has an answer says; `what` names it in a disagreement."""
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
        """What every name server says."""
        return [decoded(answer, decode) for answer in self._caller.ask_name_servers(code, ext, body)]

    def read_many(self, decode: Decode[T], code: int, exts: Sequence[ExtFields]) -> list[ServerResult[T]]:
        """Many reads of one kind at once, all from the first name server that answers; in their order."""
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
    """The answer's content; a body that cannot be read counts as no answer at all."""

    def read(command: Command) -> T:
        try:
            return decode(command)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise CallError(answer.addr, "unreadable", f"its answer cannot be read ({error})") from error

    return answer.then(read)


def _first(results: list[ServerResult[T]]) -> T:
    """The first result there is; else the refusal that says most, or that nobody could be reached."""
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
