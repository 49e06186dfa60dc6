"""PodDirectory, the pods and services of a namespace, which finds the pod that an address leads to.

It reads only the JSON of `kubectl get pods,services -o json`. It sends no request.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_JsonMap = Mapping[str, Any]

_IP_NAME_PATTERN = re.compile(r"(\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})\.([a-z0-9-]{1,63})\.pod(?:\..{1,200})?")
# Labels of apache/rocketmq-operator (app: broker, app: name_service), of the chart rocketmq-helm (component:
# nameserver) and of charts with the common labels.
_ROLE_LABELS = ("component", "app.kubernetes.io/component", "app", "app.kubernetes.io/name")
_ROLES_BY_WORD = {
    "nameserver": "namesrv", "nameservice": "namesrv", "namesrv": "namesrv", "broker": "broker",
    "proxy": "proxy", "controller": "controller", "dashboard": "dashboard", "console": "dashboard",
    "rocketmqoperator": "operator",
}  # fmt: skip
_ROLES_BY_PORT = {9876: "namesrv", 10911: "broker", 9878: "controller"}
_SERVER_ROLES = frozenset({"namesrv", "broker", "proxy", "controller"})
_DEFAULT_PORTS = frozenset({9876, 9878, 10909, 10911, 8080, 8081})
"""Of pods that declare no ports."""
_ROLES_BY_PROGRAM = {
    "mqnamesrv": "namesrv",
    "mqbroker": "broker",
    "mqproxy": "proxy",
    "mqcontroller": "controller",
}


class KubePod(NamedTuple):
    """A pod.

    Attributes:
        name: The name of the pod.
        uid: Its identity; a pod that is created again with the same name has another one.
        ips: Its addresses.
        host_ip: The address of its node; "" before it is scheduled.
        host_name: The first part of its host name, the name of the pod by default.
        subdomain: The headless service of its host name; "" if it has none.
        ports_by_name: The named ports of its containers.
        ports: All ports that its containers declare.
        labels: Its labels.
        is_ready: Whether all its containers are ready.
        is_finished: Whether all its containers have ended and will not be started again.
        roles: "namesrv", "broker", "proxy", "controller", "dashboard" and "operator", as far as they apply.
        manifest: The whole JSON of the pod.
    """

    name: str
    uid: str
    ips: tuple[str, ...]
    host_ip: str
    host_name: str
    subdomain: str
    ports_by_name: Mapping[str, int]
    ports: tuple[int, ...]
    labels: Mapping[str, str]
    is_ready: bool
    is_finished: bool
    roles: tuple[str, ...]
    manifest: _JsonMap


class KubeService(NamedTuple):
    """A service.

    Attributes:
        name: The name of the service.
        kind: ClusterIP, NodePort, LoadBalancer or ExternalName.
        ips: Its cluster addresses, external addresses and load balancers; () for a headless service.
        selector: The labels of its pods; empty if it has none.
        ports: Triples of (port, node port or 0, target port: a number or the name of one).
    """

    name: str
    kind: str
    ips: tuple[str, ...]
    selector: Mapping[str, str]
    ports: tuple[tuple[int, int, int | str], ...]


class PodPort(NamedTuple):
    """A port of a pod."""

    pod: KubePod
    port: int

    @property
    def is_rocketmq(self) -> bool:
        """Whether a RocketMQ server may listen here: the pod is one, and declares the port."""
        return not _SERVER_ROLES.isdisjoint(self.pod.roles) and self.port in (
            self.pod.ports or _DEFAULT_PORTS
        )


class PodDirectory:
    """The pods and services of one namespace at one moment."""

    def __init__(self, namespace: str, items: Iterable[_JsonMap]) -> None:
        self.namespace = namespace
        objects = list(items)
        self.pods = [parse_pod(item) for item in objects if item.get("kind") == "Pod"]
        self.pods.sort(key=lambda pod: pod.name)
        self.services = [parse_service(item) for item in objects if item.get("kind") == "Service"]
        self.services.sort(key=lambda service: service.name)

    def find_target(self, host: str, port: int) -> PodPort | None:
        """Return the port of a pod that an address leads to; None if no pod or service has it."""
        host = host.rstrip(".")
        ip_match = _IP_NAME_PATTERN.fullmatch(host)
        if ip_match is not None:
            host = ip_match[1].replace("-", ".")
        return (
            self._find_by_ip(host, port)
            or self._find_by_service_ip(host, port)
            or self._find_by_name(host.split("."), port)
        )

    def pods_with_role(self, role: str) -> list[KubePod]:
        """Return the pods with a role that have not ended, in the order of their names."""
        return [pod for pod in self.pods if role in pod.roles and not pod.is_finished]

    def pods_of_service(self, service: KubeService) -> list[KubePod]:
        """Return the pods of a service, the ready ones first."""
        if not service.selector:
            return []
        chosen_pods = [
            pod for pod in self.pods if not pod.is_finished and service.selector.items() <= pod.labels.items()
        ]
        return sorted(chosen_pods, key=lambda pod: not pod.is_ready)

    def _find_by_ip(self, host: str, port: int) -> PodPort | None:
        # Pods on the network of their node share its address.
        candidates = [pod for pod in self.pods if host in pod.ips and not pod.is_finished]
        candidates.sort(key=lambda pod: (port not in pod.ports, not pod.roles))
        return PodPort(candidates[0], port) if candidates else None

    def _find_by_service_ip(self, host: str, port: int) -> PodPort | None:
        for service in self.services:
            if host in service.ips:
                return self._follow_service(service, port)
        if host not in {pod.host_ip for pod in self.pods}:
            return None
        node_services = (s for s in self.services if port in {node_port for _, node_port, _ in s.ports})
        return next(
            (pod_port for service in node_services if (pod_port := self._follow_service(service, port))), None
        )

    def _find_by_name(self, name_parts: Sequence[str], port: int) -> PodPort | None:
        first_name = name_parts[0]
        if len(name_parts) == 1 or self._is_own_domain(name_parts[1:]):
            for service in self.services:
                if service.name == first_name:
                    return self._follow_service(service, port)
        for pod in self.pods:
            if pod.is_finished:
                continue
            if name_parts == [pod.name] or (
                len(name_parts) > 1
                and first_name == pod.host_name
                and name_parts[1] == pod.subdomain
                and self._is_own_domain(name_parts[2:])
            ):
                return PodPort(pod, port)
        return None

    def _is_own_domain(self, parts: Sequence[str]) -> bool:
        """Whether the rest of a host name is that of this namespace: nothing, NS, NS.svc, NS.svc.DOMAIN."""
        return not parts or (parts[0] == self.namespace and (len(parts) == 1 or parts[1] == "svc"))

    def _follow_service(self, service: KubeService, port: int) -> PodPort | None:
        pods = self.pods_of_service(service)
        if not pods:
            return None
        for service_port, node_port, target_port in service.ports:
            if port in (service_port, node_port):
                pod_port = pods[0].ports_by_name.get(str(target_port), target_port)
                return PodPort(pods[0], pod_port if isinstance(pod_port, int) else port)
        return PodPort(pods[0], port)


def parse_pod(item: _JsonMap) -> KubePod:
    """Parse a pod from its JSON; missing fields count as empty."""
    metadata, spec, status = item.get("metadata", {}), item.get("spec", {}), item.get("status", {})
    ports_by_name: dict[str, int] = {}
    ports: list[int] = []
    for container in spec.get("containers", []):
        for container_port in container.get("ports", []):
            ports.append(container_port["containerPort"])
            if container_port.get("name"):
                ports_by_name[container_port["name"]] = container_port["containerPort"]
    ips = [pod_ip.get("ip") for pod_ip in status.get("podIPs", [])] or [status.get("podIP")]
    phase = status.get("phase", "")
    return KubePod(
        metadata.get("name", ""),
        metadata.get("uid", ""),
        tuple(filter(None, ips)),
        status.get("hostIP", ""),
        spec.get("hostname") or metadata.get("name", ""),
        spec.get("subdomain", ""),
        ports_by_name,
        tuple(ports),
        metadata.get("labels") or {},
        any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions", [])),
        phase in ("Succeeded", "Failed"),
        tuple(dict.fromkeys(_roles_of_pod(metadata.get("labels") or {}, spec, ports))),
        item,
    )


def parse_service(item: _JsonMap) -> KubeService:
    """Parse a service from its JSON; missing fields count as empty."""
    spec = item.get("spec", {})
    ingress = item.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    ips = [
        *(spec.get("clusterIPs") or [spec.get("clusterIP")]),
        *(spec.get("externalIPs") or []),
        *(entry.get("ip") or entry.get("hostname") for entry in ingress),
    ]
    return KubeService(
        item.get("metadata", {}).get("name", ""),
        spec.get("type", "ClusterIP"),
        tuple(ip for ip in ips if ip and ip != "None"),
        spec.get("selector") or {},
        tuple(
            (p["port"], p.get("nodePort", 0), p.get("targetPort", p["port"])) for p in spec.get("ports") or []
        ),
    )


def _roles_of_pod(labels: Mapping[str, str], spec: _JsonMap, ports: Sequence[int]) -> Iterator[str]:
    for label_name in _ROLE_LABELS:
        role = _ROLES_BY_WORD.get(re.sub(r"[^a-z]", "", labels.get(label_name, "").lower()))
        if role is not None:
            yield role
            return
    if labels.get("name") == "rocketmq-operator":
        yield "operator"
    for port in ports:
        if port in _ROLES_BY_PORT:
            yield _ROLES_BY_PORT[port]
    for container in spec.get("containers", []):
        command_text = " ".join([*(container.get("command") or []), *(container.get("args") or [])])
        for program_name, role in _ROLES_BY_PROGRAM.items():
            if program_name in command_text:
                yield role
