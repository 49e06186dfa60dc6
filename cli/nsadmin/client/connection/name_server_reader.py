"""NameServerReader, which sends a read to one name server after another until one of them answers.

A read moves to the next server only if the transport fails. "Not found" is a complete answer. But name
servers do not synchronize with each other, so the reader asks all of them before it reports "not found".
"""

from collections.abc import Sequence
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import Header, make_request
from nsadmin.client.connection.response_bodies import ResponseDecoder, decode_answer
from nsadmin.client.results import NoneReachable, ServerResult, is_not_found, is_unreachable

T = TypeVar("T")


class NameServerReader:
    """Reads from name servers.

    Attributes:
        unreachable: Address to error of the name servers that failed, or refused a read that others answered.
        disagreements: One line of text per difference between name servers.
    """

    def __init__(self, caller: Caller, ask_all: bool = False) -> None:
        self._caller, self._ask_all = caller, ask_all
        self._preferred_addrs: tuple[str, ...] = ()
        self.unreachable: dict[str, RocketMQError] = {}
        self.disagreements: list[str] = []

    def _order_addrs(self) -> tuple[str, ...]:
        """The addresses in request order: the server that answered last comes first.

        Another thread may change the order, so ask once per read.
        """
        return self._preferred_addrs or self._caller.name_servers.addrs

    def read_first(
        self,
        subject_text: str,
        decode: ResponseDecoder[T],
        request_code: int,
        header: Header | None = None,
        *,
        ask_all: bool = True,
    ) -> T:
        """Return the decoded answer of the first name server that has one."""
        if self._ask_all and ask_all:
            return self._read_all(subject_text, decode, request_code, header)
        results: list[ServerResult[T]] = []
        ordered_addrs = self._order_addrs()
        for namesrv_addr in ordered_addrs:
            [result] = self._ask_servers((namesrv_addr,), decode, request_code, header)
            if result.error is None:
                self._preferred_addrs = (
                    namesrv_addr,
                    *(other_addr for other_addr in ordered_addrs if other_addr != namesrv_addr),
                )
                return pick_result([*results, result])
            results.append(result)
            if is_not_found(result.error):
                other_addrs = ordered_addrs[len(results) :]
                return pick_result(results + self._ask_servers(other_addrs, decode, request_code, header))
            if not is_unreachable(result.error):
                raise result.error
        return pick_result(results)

    def read_each(
        self,
        decode: ResponseDecoder[T],
        request_code: int,
        header: Header | None = None,
        request_body: bytes = b"",
    ) -> list[ServerResult[T]]:
        """Send a request to every name server; return one decoded ServerResult per server."""
        addrs = self._caller.name_servers.addrs
        return self._caller.read_each(addrs, decode, request_code, header, request_body)

    def read_batch(
        self, decode: ResponseDecoder[T], request_code: int, headers: Sequence[Header]
    ) -> list[ServerResult[T]]:
        """Send many reads of one kind at once to the first name server that answers."""
        results: dict[int, ServerResult[T]] = {}
        for namesrv_addr in self._order_addrs():
            pending_indexes = [
                read_index
                for read_index in range(len(headers))
                if read_index not in results or is_unreachable(results[read_index].error)
            ]
            answers = self._caller.send_requests(
                [(namesrv_addr, make_request(request_code, headers[index])) for index in pending_indexes]
            )
            for read_index, answer in zip(pending_indexes, answers, strict=True):
                results[read_index] = decode_answer(answer, decode)
        return [results[read_index] for read_index in range(len(headers))]

    def _read_all(
        self, subject: str, decode: ResponseDecoder[T], request_code: int, header: Header | None
    ) -> T:
        results = self._ask_servers(self._caller.name_servers.addrs, decode, request_code, header)
        first_result = pick_result(results)
        for namesrv_addr, result, error in results:
            if is_not_found(error):
                self.disagreements.append(
                    f"name server {namesrv_addr} does not have {subject}, another one has it"
                )
            elif error is not None:
                self.unreachable[namesrv_addr] = error
            elif result != first_result:
                first_addr = next(namesrv_addr for namesrv_addr, value, _ in results if value is first_result)
                self.disagreements.append(
                    f"name servers {namesrv_addr} and {first_addr} disagree about {subject}"
                )
        return first_result

    def _ask_servers(
        self, addrs: tuple[str, ...], decode: ResponseDecoder[T], request_code: int, header: Header | None
    ) -> list[ServerResult[T]]:
        results = self._caller.read_each(addrs, decode, request_code, header)
        for namesrv_addr, _, error in results:
            if isinstance(error, CallError):
                self.unreachable[namesrv_addr] = error
        return results


def pick_result(results: list[ServerResult[T]]) -> T:
    """Return the first success. Else raise a refusal ("not found" last), or NoneReachable."""
    errors: list[RocketMQError] = []
    for _, result, error in results:
        if error is None and result is not None:
            return result
        if error is not None:
            errors.append(error)
    refusals = [error for error in errors if not isinstance(error, CallError)]
    if refusals:
        raise next((error for error in refusals if not is_not_found(error)), refusals[0])
    raise NoneReachable([error for error in errors if isinstance(error, CallError)])
