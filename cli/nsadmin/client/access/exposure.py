"""`admin.exposure`: the answers of servers to harmless reads, which reveal versions and open access."""

from collections.abc import Container, Iterable
from typing import NamedTuple

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_config_items
from nsadmin.client.results import ServerResult

_PROBED_GROUP = "nsadmin-probe"
"""A group without clients: the answer is that none is connected, or a refusal."""
_ANY_RESPONSE_CODE = range(-(2**31), 2**31)


class ExposureAnswer(NamedTuple):
    """The answer of a server.

    Attributes:
        version_name: The release that the server claims, such as "V5_5_0"; None if it claims no real one.
        settings: Its settings; {} after a refusal, or if the request was not about settings.
        refusal_text: The reason of a refusal; None if the server accepted the request.
    """

    version_name: str | None
    settings: dict[str, str]
    refusal_text: str | None


class ServerExposure:
    """`admin.exposure`: the answers of servers to harmless reads.

    A refusal is a result too. Only a server that does not answer gives an error. Each method with a list of
    addresses returns one ServerResult per address, in order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def name_servers(self, namesrv_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the settings of name servers (GET_NAMESRV_CONFIG, 319).

        Args:
            namesrv_addrs: The name server addresses.
        """
        return self._send_to_each(namesrv_addrs, RequestCode.GET_NAMESRV_CONFIG)

    def brokers(self, broker_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the settings of brokers (GET_BROKER_CONFIG, 26).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)

    def clusters(self, namesrv_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the broker list of name servers (GET_BROKER_CLUSTER_INFO, 106), without reading it.

        Args:
            namesrv_addrs: The name server addresses.

        Returns:
            One ServerResult per address, in order; `settings` is always {}.
        """
        return self._send_to_each(namesrv_addrs, RequestCode.GET_BROKER_CLUSTER_INFO)

    def proxies(self, proxy_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the clients of a group from proxies (GET_CONSUMER_CONNECTION_LIST, 203).

        Args:
            proxy_addrs: The remoting ports of proxies.

        Returns:
            One ServerResult per address, in order; `settings` is always {}.
        """
        fields = broker_headers.ConsumerGroup(_PROBED_GROUP)
        answers = self._caller.send_requests(
            [(addr, make_request(RequestCode.GET_CONSUMER_CONNECTION_LIST, fields)) for addr in proxy_addrs],
            accepted_codes=_ANY_RESPONSE_CODE,
        )
        accepted_codes = (0, ResponseCode.CONSUMER_NOT_ONLINE)
        return [a.then(lambda response: _parse_answer(response, False, accepted_codes)) for a in answers]

    def check_reachable(self, server_addrs: Iterable[str]) -> dict[str, bool]:
        """Check whether addresses accept connections. Nothing is sent.

        Args:
            server_addrs: The server addresses.

        Returns:
            Address to whether it accepted a connection; without addresses of which that is unknown.
        """
        from namesrv_core.transport.tls_probe import can_connect

        server_addrs, timeout = list(server_addrs), self._caller.access.timeout

        def check_addr(server_addr: str) -> bool | None:
            try:
                return self._caller.run_probe(
                    "connection",
                    server_addr,
                    lambda: can_connect(
                        self._caller.connect_addr(server_addr), timeout, self._caller.find_addrs
                    ),
                )
            except CallError:
                return None

        results = self._caller.map_in_threads(check_addr, server_addrs)
        return {
            server_addr: is_reachable
            for server_addr, is_reachable in zip(server_addrs, results, strict=True)
            if is_reachable is not None
        }

    def _send_to_each(
        self, server_addrs: Iterable[str], request_code: RequestCode
    ) -> list[ServerResult[ExposureAnswer]]:
        has_settings = request_code != RequestCode.GET_BROKER_CLUSTER_INFO
        answers = self._caller.send_requests(
            [(addr, make_request(request_code)) for addr in server_addrs], accepted_codes=_ANY_RESPONSE_CODE
        )
        return [answer.then(lambda response: _parse_answer(response, has_settings)) for answer in answers]


def _parse_answer(
    response: RemotingCommand, has_settings: bool, accepted_codes: Container[int] = (0,)
) -> ExposureAnswer:
    version = version_text(response.version)
    if response.code not in accepted_codes:
        return ExposureAnswer(
            version, {}, (response.remark or "").strip().split("\n", 1)[0] or f"code {response.code}"
        )
    return ExposureAnswer(version, parse_config_items(response) if has_settings else {}, None)
