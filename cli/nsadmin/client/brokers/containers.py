"""`admin.containers`: broker containers (since 5.0), processes that run several brokers."""

from typing import NamedTuple

from namesrv_core.errors import RequestError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import Header, make_request
from nsadmin.client.connection.response_bodies import parse_config_items
from nsadmin.client.results import NotApplied, NotFound, ServerResult

_NO_BROKER_CODE = 211


class ContainedBroker(NamedTuple):
    """The identity of one broker in a container."""

    cluster_name: str
    broker_name: str
    broker_id: int


class BrokerContainers:
    """`admin.containers`: broker containers. An order waits at least 60 s for its answer."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def check_container(self, container_addr: str) -> ServerResult[bool]:
        """Check that an address is a broker container (GET_BROKER_CONFIG, 26).

        Args:
            container_addr: The container address.

        Returns:
            A ServerResult: True; the error is NotApplied for a standalone broker.
        """

        def require_container(response: RemotingCommand) -> bool:
            if "brokerContainerIP" not in parse_config_items(response):
                raise NotApplied("not a broker container: it has no setting brokerContainerIP")
            return True

        return self._caller.read_one(container_addr, require_container, RequestCode.GET_BROKER_CONFIG)

    def add_broker(self, container_addr: str, config_path: str) -> ServerResult[bool]:
        """Start a broker in a container (ADD_BROKER, 902).

        Args:
            container_addr: The container address.
            config_path: The path of the broker's properties file on the container's machine.

        Returns:
            A ServerResult: True after the broker started.
        """
        return self._send_order(container_addr, RequestCode.ADD_BROKER, broker_headers.AddBroker(config_path))

    def remove_broker(self, container_addr: str, broker: ContainedBroker) -> ServerResult[bool]:
        """Stop a broker in a container (REMOVE_BROKER, 903).

        Args:
            container_addr: The container address.
            broker: The cluster name, broker name and broker id.

        Returns:
            A ServerResult: True after the broker stopped; the error is NotFound if it does not run there.
        """
        ext_fields = broker_headers.RemoveBroker(*broker)
        removal_result = self._send_order(container_addr, RequestCode.REMOVE_BROKER, ext_fields)
        if isinstance(removal_result.error, RequestError) and removal_result.error.code == _NO_BROKER_CODE:
            return ServerResult(container_addr, None, NotFound("the container does not run this broker"))
        return removal_result

    def _send_order(self, addr: str, request_code: RequestCode, header: Header) -> ServerResult[bool]:
        # The container answers only after the broker has started or stopped.
        timeout_seconds = max(60.0, self._caller.access.timeout)
        [answer] = self._caller.send_requests([(addr, make_request(request_code, header))], timeout_seconds)
        return answer.then(lambda _: True)
