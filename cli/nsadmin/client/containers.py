"""Containers: processes in which several brokers run, each with a file of its own. Since 5.0."""

from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.retry import decoded

_NO_BROKER = 211


class Identity(NamedTuple):
    """Which broker of a container it is."""

    cluster_name: str
    broker_name: str
    broker_id: int


class Containers:
    """`admin.containers`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def check(self, addr: str) -> ServerResult[bool]:
        """Whether it is a container: NotApplied for a broker that runs by itself."""

        def check(command: Command) -> bool:
            if "brokerContainerIP" not in config_items(command):
                raise NotApplied("this is no broker container: it says nothing of a brokerContainerIP")
            return True

        [answer] = self._caller.ask_each([addr], RequestCode.GET_BROKER_CONFIG)
        return decoded(answer, check)

    def add(self, addr: str, config_path: str) -> ServerResult[bool]:
        """Start a broker in a container, by a file of properties on the container's machine."""
        ext = headers.write(broker_headers.AddBroker(config_path))
        return self._order(addr, RequestCode.ADD_BROKER, ext)

    def remove(self, addr: str, broker: Identity) -> ServerResult[bool]:
        """Stop a broker of a container; NotFound for one that does not run there."""
        ext = headers.write(broker_headers.RemoveBroker(*broker))
        done = self._order(addr, RequestCode.REMOVE_BROKER, ext)
        if isinstance(done.error, RequestError) and done.error.code == _NO_BROKER:
            return ServerResult(addr, None, NotFound("no such broker runs in this container"))
        return done

    def _order(self, addr: str, code: RequestCode, ext: dict[str, str]) -> ServerResult[bool]:
        # A broker is started or stopped before it is answered.
        timeout = max(60.0, self._caller.access.timeout)
        [answer] = self._caller.ask([(addr, request(code, ext))], timeout)
        return answer.then(lambda _: True)
