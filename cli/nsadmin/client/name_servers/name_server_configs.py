"""`admin.name_servers`: the availability and the settings of each name server."""

from collections.abc import Iterable
from time import perf_counter
from typing import NamedTuple

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_config_items
from nsadmin.client.results import ServerResult, read_after
from nsadmin.client.server_settings import format_properties_line, require_change, require_value

NamesrvConfig = dict[str, str]


class NameServerPulse(NamedTuple):
    """A name server that answered a probe.

    Attributes:
        latency_ms: Milliseconds to the answer, over an open connection.
        version: The release, such as "V5_5_0"; None if it reports no real one.
    """

    latency_ms: float
    version: str | None


class _KnownRequest:
    """The response codes of a server that knows the request; any of them proves that it is alive."""

    def __contains__(self, response_code: object) -> bool:
        return response_code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED


# Every name server knows the probes, and a missing key is the cheapest one.
_NOT_READY_REMARK = "not ready"
_PROBE_KEY = headers.KvKey("nsadmin", "pulse")


class NameServerAdmin:
    """`admin.name_servers`: the availability and the settings of each name server."""

    def __init__(self, caller: Caller, reader: NameServerReader) -> None:
        self._caller, self._reader = caller, reader

    def get_pulse_each(self) -> list[ServerResult[NameServerPulse]]:
        """Measure the latency of every name server (GET_KV_CONFIG, 101, for a key that does not exist).

        The first request, to all servers at once, opens the connections. A second one is measured.

        Returns:
            One ServerResult per name server.
        """
        namesrv_addrs = self._caller.name_servers.addrs
        return [
            self._measure_pulse(namesrv_addr) if error is None else ServerResult(namesrv_addr, None, error)
            for namesrv_addr, _, error in self._send_probes(*namesrv_addrs)
        ]

    def check_ready_each(self) -> list[ServerResult[bool]]:
        """Check whether every name server serves routes (GET_ROUTEINFO_BY_TOPIC, 105).

        With needWaitForService=true, a name server refuses route requests in its first seconds, until brokers
        had time to register.

        Returns:
            One ServerResult per name server: True, or False if it is not ready.
        """
        ext_fields = headers.GetRoute("nsadmin-pulse", accept_standard_json_only=True)
        probes = [
            (namesrv_addr, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, ext_fields))
            for namesrv_addr in self._caller.name_servers.addrs
        ]
        return [
            answer.then(lambda response: not (response.code and _NOT_READY_REMARK in (response.remark or "")))
            for answer in self._caller.send_requests(probes, accepted_codes=_KnownRequest())
        ]

    def find_silent(self, namesrv_addrs: Iterable[str]) -> dict[str, RocketMQError]:
        """Find the name servers that do not answer (GET_KV_CONFIG, 101, for a key that does not exist).

        Args:
            namesrv_addrs: The addresses to ask, such as those in a broker's own list.

        Returns:
            Address to the reason, for those without an answer.
        """
        return {answer.addr: answer.error for answer in self._send_probes(*namesrv_addrs) if answer.error}

    def _send_probes(self, *namesrv_addrs: str) -> list[ServerResult[RemotingCommand]]:
        probes = [(addr, make_request(RequestCode.GET_KV_CONFIG, _PROBE_KEY)) for addr in namesrv_addrs]
        return self._caller.send_requests(probes, accepted_codes=_KnownRequest())

    def _measure_pulse(self, namesrv_addr: str) -> ServerResult[NameServerPulse]:
        started_at = perf_counter()
        [answer] = self._send_probes(namesrv_addr)
        latency_ms = (perf_counter() - started_at) * 1000
        return answer.then(lambda response: NameServerPulse(latency_ms, version_text(response.version)))

    def get_config_each(self) -> list[ServerResult[NamesrvConfig]]:
        """Return the settings of every name server (GET_NAMESRV_CONFIG, 319).

        Returns:
            One ServerResult per name server: key to value, as texts, in the order of keys.
        """
        return self._reader.read_each(parse_config_items, RequestCode.GET_NAMESRV_CONFIG)

    def plan_item(self, item_key: str, item_value: str) -> list[ServerResult[str]]:
        """Plan `update_item` without changing anything.

        Args:
            item_key: The key.
            item_value: The new value, as text.

        Returns:
            One ServerResult per name server: the new value. The error is NotFound for an unknown key,
            NotApplied for a value of another type than the present one.
        """

        def plan_value(config: NamesrvConfig) -> str:
            require_change(config, item_key, item_value, "name server")
            return item_value

        return [result.then(plan_value) for result in self.get_config_each()]

    def update_item(self, item_key: str, item_value: str) -> list[ServerResult[str]]:
        """Update one configuration item on every name server (UPDATE_NAMESRV_CONFIG, 318), and read it back.

        A name server that has no such key, or a value of another type, gets no request.

        Args:
            item_key: The key.
            item_value: The new value, as text.

        Returns:
            One ServerResult per name server: the value read back. The error is NotFound for an unknown key,
            NotApplied for an invalid value. Name servers answer success in both cases.
        """
        request_body = format_properties_line(item_key, item_value).encode("ascii")
        update_results = read_after(
            self.plan_item(item_key, item_value),
            lambda addrs: self._caller.read_each(
                addrs, lambda _: True, RequestCode.UPDATE_NAMESRV_CONFIG, request_body=request_body
            ),
        )
        configs = read_after(
            update_results,
            lambda addrs: self._caller.read_each(addrs, parse_config_items, RequestCode.GET_NAMESRV_CONFIG),
        )
        return [
            result.then(lambda config: require_value(config, item_key, item_value, "name server"))
            for result in configs
        ]
