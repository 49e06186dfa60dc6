"""`admin.name_servers`: the availability and the configuration of each name server."""

from time import perf_counter
from typing import NamedTuple

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import Reader

Config = dict[str, str]


class Pulse(NamedTuple):
    """A name server that answered a probe.

    Attributes:
        latency_ms: Milliseconds to the answer, over an open connection.
        version: The release, such as "V5_5_0".
    """

    latency_millis: float
    version: str


# Any response proves that the server is alive. A missing key is the cheapest probe.
_ANY_CODE = range(-(2**31), 2**31)
_NOT_READY = "not ready"
_PROBE = headers.write(headers.KvKey("nsadmin", "pulse"))


class NameServerConfigs:
    """`admin.name_servers`: the availability and the configuration of each name server."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def pulse_each(self) -> list[ServerResult[Pulse]]:
        """Measure the latency of every name server (GET_KV_CONFIG, 101, for a key that does not exist).

        The first request, to all servers at once, opens the connections. A second one is measured.

        Returns:
            One ServerResult per name server.
        """
        addrs = self._caller.name_servers.addrs
        return [
            self._pulse(addr) if error is None else ServerResult(addr, None, error)
            for addr, _, error in self._probe(*addrs)
        ]

    def ready_each(self) -> list[ServerResult[bool]]:
        """Check whether every name server serves routes (GET_ROUTEINFO_BY_TOPIC, 105).

        With needWaitForService=true, a name server refuses route requests in its first seconds, until brokers
        had time to register.

        Returns:
            One ServerResult per name server: True, or False if it is not ready.
        """
        ext = headers.write(headers.GetRoute("nsadmin-pulse", accept_standard_json_only=True))
        probes = [
            (addr, request(RequestCode.GET_ROUTEINFO_BY_TOPIC, ext))
            for addr in self._caller.name_servers.addrs
        ]
        return [
            answer.then(lambda command: not (command.code and _NOT_READY in (command.remark or "")))
            for answer in self._caller.ask(probes, codes=_ANY_CODE)
        ]

    def _probe(self, *addrs: str) -> list[ServerResult[Command]]:
        probes = [(addr, request(RequestCode.GET_KV_CONFIG, _PROBE)) for addr in addrs]
        return self._caller.ask(probes, codes=_ANY_CODE)

    def _pulse(self, addr: str) -> ServerResult[Pulse]:
        begun = perf_counter()
        [answer] = self._probe(addr)
        latency = (perf_counter() - begun) * 1000
        return answer.then(lambda command: Pulse(latency, version_text(command.version)))

    def config_each(self) -> list[ServerResult[Config]]:
        """Return the configuration of every name server (GET_NAMESRV_CONFIG, 319).

        Returns:
            One ServerResult per name server: key to value, as texts, in the order of keys.
        """
        return self._reader.each(config_items, RequestCode.GET_NAMESRV_CONFIG)

    def update(self, key: str, value: str) -> list[ServerResult[str]]:
        """Update one configuration item on every name server (UPDATE_NAMESRV_CONFIG, 318), and read it back.

        Returns:
            One ServerResult per name server: the value read back. The error is NotApplied for an unknown key
            or an invalid value, for which name servers answer success.
        """
        body = properties_line(key, value).encode("ascii")
        updated = self._reader.each(lambda _: True, RequestCode.UPDATE_NAMESRV_CONFIG, body=body)
        configs = {found.addr: found for found in self.config_each()}
        return [
            ServerResult(done.addr, None, done.error)
            if done.error is not None
            else configs[done.addr].then(lambda config: _applied(config, key, value))
            for done in updated
        ]


def properties_line(key: str, value: str) -> str:
    """Return one line of a properties file, escaped for `java.util.Properties`."""
    return f"{_escaped(key, ' =:#!')}={_escaped(value, '#!')}\n"


def _escaped(text: str, special: str) -> str:
    lead = len(text) - len(text.lstrip(" "))
    units = text.encode("utf-16-be", "surrogatepass")
    letters = [chr(units[at] << 8 | units[at + 1]) for at in range(0, len(units), 2)]
    return "".join(
        f"\\{letter}"
        if letter == "\\" or letter in special or at < lead
        else letter
        if " " <= letter <= "~"
        else f"\\u{ord(letter):04x}"
        for at, letter in enumerate(letters)
    )


def _applied(config: Config, key: str, value: str) -> str:
    now = config.get(key)
    if now is None:
        raise NotApplied(f"ignored: this name server has no item {key!r}")
    if now.strip().lower() != value.strip().lower():
        raise NotApplied(f"ignored: {key} is still {now!r}")
    return now
