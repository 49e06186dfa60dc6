"""Doors: how servers answer a harmless request, whoever asks: that tells a version, and what stands open."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult

_ANY_CODE = range(-(2**31), 2**31)


class Answer(NamedTuple):
    """What a server said: the version that it claims to be, "V5_5_0", and its settings or why it told none.

    `settings` are empty where something else was asked for. `refusal` is None where it did what was asked.
    """

    version: str
    settings: dict[str, str]
    refusal: str | None


class Doors:
    """`admin.doors`: any answer is a result, a refusal too; only silence is an error."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def name_servers(self, addrs: Iterable[str]) -> list[ServerResult[Answer]]:
        """The settings of name servers (GET_NAMESRV_CONFIG)."""
        return self._ask(addrs, RequestCode.GET_NAMESRV_CONFIG)

    def brokers(self, addrs: Iterable[str]) -> list[ServerResult[Answer]]:
        """The settings of brokers (GET_BROKER_CONFIG)."""
        return self._ask(addrs, RequestCode.GET_BROKER_CONFIG)

    def clusters(self, addrs: Iterable[str]) -> list[ServerResult[Answer]]:
        """Whether name servers tell which brokers there are (GET_BROKER_CLUSTER_INFO)."""
        return self._ask(addrs, RequestCode.GET_BROKER_CLUSTER_INFO)

    def reachable(self, addrs: Iterable[str]) -> dict[str, bool]:
        """Whether somebody takes connections at these addresses; nothing is said there."""
        # All they do is wait.
        from concurrent.futures import ThreadPoolExecutor

        from namesrv_core.transport.handshake import takes_connections

        addrs, access = list(addrs), self._caller.access
        with ThreadPoolExecutor(max(1, min(len(addrs), access.concurrency))) as pool:
            taken = pool.map(lambda addr: takes_connections(self._caller.way(addr), access.timeout), addrs)
            return dict(zip(addrs, taken, strict=True))

    def _ask(self, addrs: Iterable[str], code: RequestCode) -> list[ServerResult[Answer]]:
        has_settings = code != RequestCode.GET_BROKER_CLUSTER_INFO
        answers = self._caller.ask([(addr, request(code)) for addr in addrs], codes=_ANY_CODE)
        return [answer.then(lambda command: _answer(command, has_settings)) for answer in answers]


def _answer(command: Command, has_settings: bool) -> Answer:
    version = version_text(command.version)
    if command.code:
        return Answer(version, {}, (command.remark or "").strip().split("\n", 1)[0] or f"code {command.code}")
    return Answer(version, config_items(command) if has_settings else {}, None)
