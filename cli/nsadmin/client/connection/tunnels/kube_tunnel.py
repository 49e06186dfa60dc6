"""KubeTunnel: one `kubectl port-forward` for each port of a pod, opened at the first connection to it.

The local ports are open to every user of this machine, because kubectl has no other way.
"""

import socket
from threading import RLock
from time import monotonic

from namesrv_core.transport.address import explain_invalid_addr, join_addr, split_addr
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.server_link import SocketAddress
from nsadmin.client.connection.addresses import DEFAULT_NAME_SERVER_PORT, DEFAULT_PROXY_PORT, NameServerList
from nsadmin.client.connection.tunnels.kubectl_program import KubectlProgram, PortForward
from nsadmin.client.connection.tunnels.pod_directory import PodDirectory, PodPort
from nsadmin.client.connection.tunnels.tunnel import ForwardObserver, Tunnel, TunnelError
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget

_DIRECTORY_SECONDS = 2.0
"""How long a list of pods counts as new. Each server without a connection would ask for it otherwise."""


class KubeTunnel(Tunnel):
    """The way to the pods of a namespace.

    An address may be that of a pod, a node or a service, a name of a pod, or a host name within the cluster.
    A pod that was created again is found with a new list of pods.
    """

    def __init__(self, target: KubeTarget, observer: ForwardObserver | None = None) -> None:
        super().__init__(str(target), observer)
        self._namespace = target.namespace
        self._kubectl = KubectlProgram(target)
        self._forwards: dict[tuple[str, int], PortForward] = {}
        self._pod_guards: dict[tuple[str, int], RLock] = {}
        self._directory: PodDirectory | None = None
        self._listed_at = 0.0
        self._is_directory_doubtful = False

    def _end_programs(self) -> None:
        with self._guard:
            open_forwards = list(self._forwards.values())
            self._forwards.clear()
            self._directory = None
        for open_forward in open_forwards:
            open_forward.process.close()

    def list_name_servers(self) -> NameServerList:
        """Return the pods of name servers, as "POD:9876"."""
        addrs = self._list_role("namesrv", DEFAULT_NAME_SERVER_PORT)
        if not addrs:
            reason = "no pod of a name server (port 9876): pass -n SERVICE:PORT, or another namespace"
            raise CallError(self.label, "unresolvable", reason)
        return NameServerList(addrs, "kubernetes", self.label)

    def list_proxies(self) -> tuple[str, ...]:
        """Return the pods of proxies, as "POD:8080"."""
        return self._list_role("proxy", DEFAULT_PROXY_PORT)

    def _list_role(self, role: str, default_port: int) -> tuple[str, ...]:
        try:
            directory = self._require_directory()
        except TunnelError as error:
            raise CallError(self.label, "unconnected", str(error)) from None
        return tuple(
            join_addr(pod.name, default_port if default_port in pod.ports or not pod.ports else pod.ports[0])
            for pod in directory.pods_with_role(role)
        )

    def _forget_programs(self) -> None:
        self._forwards = {}
        self._pod_guards = {}
        self._directory = None

    def _open_way(self, server_addr: str) -> SocketAddress:
        try:
            host, port = split_addr(server_addr)
        except ValueError:
            raise TunnelError(explain_invalid_addr(server_addr)) from None
        pod_port = self._require_directory().find_target(host, port)
        if pod_port is not None and self._drop_ended_forward(pod_port):
            pod_port = self._require_directory().find_target(host, port)
        elif pod_port is None:
            pod_port = self._require_directory(is_doubtful=True).find_target(host, port)
        if pod_port is None:
            raise TunnelError(
                f'no pod or service has the address "{host}": if it is reachable another way, map it with '
                f"--addressMap {host}=POD"
            )
        if not pod_port.is_rocketmq:
            # Anybody can register an address such as "postgres-0:5432".
            raise TunnelError(
                f"port {pod_port.port} of pod {pod_port.pod.name} is not forwarded: nsadmin forwards to name "
                "servers, brokers, proxies and controllers only, at ports that their pods declare"
            )
        return socket.AF_INET, ("127.0.0.1", self._require_forward(pod_port))

    def _drop_ended_forward(self, pod_port: PodPort) -> bool:
        """Forget the port-forward to a pod if it has ended, and the pods: a new pod has another identity."""
        key = (pod_port.pod.name, pod_port.port)
        with self._guard:
            open_forward = self._forwards.get(key)
            if open_forward is None or open_forward.process.is_running:
                return False
            del self._forwards[key]
            self._directory = None
        open_forward.process.close()
        return True

    def _require_directory(self, is_doubtful: bool = False) -> PodDirectory:
        with self._guard:
            is_doubtful = is_doubtful or self._is_directory_doubtful
            is_new = monotonic() < self._listed_at + _DIRECTORY_SECONDS
            if self._directory is None or (is_doubtful and not is_new):
                self._directory = self._start_once(self._read_directory)
                self._listed_at = monotonic()
                self._is_directory_doubtful = False
            return self._directory

    def _read_directory(self) -> PodDirectory:
        self._require_open()
        try:
            objects = self._kubectl.list_objects("pods", "services")
        except TunnelError as error:
            # Addresses of pods need no list of services.
            if "services" not in str(error) or "forbidden" not in str(error):
                raise
            objects = self._kubectl.list_objects("pods")
        return PodDirectory(self._namespace, objects)

    def _require_forward(self, pod_port: PodPort) -> int:
        """Return the local port of the port-forward to a pod; start it if there is none for this pod."""
        pod, key = pod_port.pod, (pod_port.pod.name, pod_port.port)
        with self._guard:
            pod_guard = self._pod_guards.setdefault(key, RLock())
        with pod_guard:
            open_forward = self._forwards.get(key)
            if open_forward is not None and (
                open_forward.pod_uid != pod.uid or not open_forward.process.is_running
            ):
                open_forward.process.close()
                open_forward = None
            if open_forward is None:
                open_forward = self._keep_forward(key, self._kubectl.forward_port(pod, pod_port.port))
                self._report(f"forwards 127.0.0.1:{open_forward.local_port} to {pod.name}:{pod_port.port}")
            assert open_forward.local_port is not None
            return open_forward.local_port

    def _keep_forward(self, key: tuple[str, int], open_forward: PortForward) -> PortForward:
        with self._guard:
            if not self._is_closed:
                self._forwards[key] = open_forward
                return open_forward
        open_forward.process.close()
        raise TunnelError("the tunnel is closed")

    def find_failure_reason(self, server_addr: str, wait_seconds: float) -> str | None:
        self._is_directory_doubtful = True
        pod_port = None if self._directory is None else self._directory.find_target(*split_addr(server_addr))
        open_forward = pod_port and self._forwards.get((pod_port.pod.name, pod_port.port))
        if pod_port is None or open_forward is None:
            return None
        open_forward.process.wait_until(lambda: open_forward.first_reason is not None, wait_seconds)
        if open_forward.first_reason is None:
            return None
        # After such a line kubectl ends, and accepts connections until then.
        with self._guard:
            self._forwards.pop((pod_port.pod.name, pod_port.port), None)
        open_forward.process.close()
        return f"pod {pod_port.pod.name}: {open_forward.first_reason}"
